; things
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(type_alias_declaration name: (_) @name) @class
(internal_module name: [(identifier) (nested_identifier)] @name) @namespace
(module name: [(identifier) (nested_identifier)] @name) @namespace
(module name: (string)) @object
(function_signature name: (_) @name) @function
(method_signature name: [(property_identifier) (private_property_identifier)] @name) @method
(abstract_method_signature name: [(property_identifier) (private_property_identifier)] @name) @method
(property_signature name: (property_identifier) @name) @field
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @field
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)]) @closure
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @field
(optional_parameter (accessibility_modifier) pattern: (identifier) @name) @field
(enum_body name: (property_identifier) @name @field)
(enum_assignment name: (property_identifier) @name) @field

; types
(public_field_definition type: (type_annotation [(type_identifier) (nested_type_identifier)] @type)) @field
(public_field_definition type: (type_annotation (generic_type name: _ @type))) @field
(public_field_definition type: (type_annotation (union_type (type_identifier) @type (literal_type)))) @field
(public_field_definition value: (new_expression constructor: (_) @made)) @field
(property_signature type: (type_annotation [(type_identifier) (nested_type_identifier)] @type)) @field
(property_signature type: (type_annotation (generic_type name: _ @type))) @field
(property_signature type: (type_annotation (union_type (type_identifier) @type (literal_type)))) @field
(variable_declarator
  name: (identifier) @name type: (type_annotation [(type_identifier) (nested_type_identifier)] @type)) @variable
(variable_declarator name: (identifier) @name type: (type_annotation (generic_type name: _ @type))) @variable
(variable_declarator
  name: (identifier) @name type: (type_annotation (union_type (type_identifier) @type (literal_type)))) @variable
(_ pattern: (identifier) @bind type: (type_annotation [(type_identifier) (nested_type_identifier)] @type))
(_ pattern: (identifier) @bind type: (type_annotation (generic_type name: _ @type)))
(_ pattern: (identifier) @bind type: (type_annotation (union_type (type_identifier) @type (literal_type))))
(required_parameter
  (accessibility_modifier)
  pattern: (identifier) @name
  type: (type_annotation [(type_identifier) (nested_type_identifier)] @type)) @field
(optional_parameter
  (accessibility_modifier)
  pattern: (identifier) @name
  type: (type_annotation [(type_identifier) (nested_type_identifier)] @type)) @field
(required_parameter
  (accessibility_modifier) pattern: (identifier) @name type: (type_annotation (generic_type name: _ @type))) @field
(function_declaration return_type: (type_annotation [(type_identifier) (nested_type_identifier)] @returns)) @function
(function_signature return_type: (type_annotation [(type_identifier) (nested_type_identifier)] @returns)) @function
(method_definition return_type: (type_annotation [(type_identifier) (nested_type_identifier)] @returns)) @method
(method_signature return_type: (type_annotation [(type_identifier) (nested_type_identifier)] @returns)) @method
(abstract_method_signature return_type: (type_annotation [(type_identifier) (nested_type_identifier)] @returns)) @method
(variable_declarator value: (arrow_function
  return_type: (type_annotation [(type_identifier) (nested_type_identifier)] @returns))) @closure
; what is awaited is what was promised
((function_declaration return_type: (type_annotation (generic_type
  name: (type_identifier) @_promise type_arguments: (type_arguments . (type_identifier) @returns .)))) @function
  (#eq? @_promise "Promise"))
((method_definition return_type: (type_annotation (generic_type
  name: (type_identifier) @_promise type_arguments: (type_arguments . (type_identifier) @returns .)))) @method
  (#eq? @_promise "Promise"))

; scopes
[(function_type) (constructor_type) (call_signature) (construct_signature)] @lambda
[(type_annotation (object_type)) (type_annotation (_ (object_type)))] @object

; locals
(_ pattern: (identifier) @bind)
(type_parameter name: (type_identifier) @bind)
(mapped_type_clause name: (type_identifier) @bind)
(infer_type (type_identifier) @bind)
(index_signature name: (identifier) @bind)

; statements
(import_alias) @import

; places
(type_identifier) @root
(nested_identifier property: (property_identifier) @attribute)
(nested_type_identifier name: (type_identifier) @attribute)
(type_arguments) @generic
(extends_clause value: (_) @base)
(implements_clause (_) @base)
(extends_type_clause type: (_) @base)
(class name: (type_identifier) @skip)
(type_predicate name: (identifier) @skip)
