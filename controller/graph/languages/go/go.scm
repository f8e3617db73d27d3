; Names, in order of their bytes; a name after a dot is read on from the one before it.
(identifier) @name
(type_identifier) @type
(package_identifier) @type
(selector_expression field: (field_identifier) @attribute)

; What may stand inside a dotted name.
(argument_list) @arguments
(type_arguments) @jump
(slice_expression) @slice
(index_expression) @index

; Scopes.
(function_declaration) @function
(method_declaration) @function
(type_spec) @class
(type_alias) @class
[
  (func_literal) (block) (if_statement) (for_statement)
  (expression_switch_statement) (type_switch_statement) (select_statement)
  (expression_case) (default_case) (type_case) (communication_case)
] @block

; What binds.
(package_clause (package_identifier) @package)
(import_spec) @import
(const_spec) @value
(var_spec) @value
(short_var_declaration) @short
(receive_statement left: (_)) @short
(range_clause left: (_)) @range
(parameter_declaration) @parameter
(variadic_parameter_declaration) @parameter
(type_parameter_declaration) @opaque
(field_declaration) @field
(method_elem) @method
(type_elem) @element

; The name of a field in a literal, which may be the key of a map all the same.
(keyed_element . (literal_element (identifier) @key))
