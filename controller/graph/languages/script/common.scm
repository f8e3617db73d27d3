; What JavaScript and TypeScript share. The captures are explained in ../syntax.py.

; things
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @method
(variable_declarator name: (identifier) @name) @variable
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @closure
(variable_declarator name: (identifier) @name value: (class)) @class
(variable_declarator name: (identifier) @name value: (object) @body) @variable
(variable_declarator name: (identifier) @name value: (new_expression constructor: (_) @made)) @variable
(variable_declarator name: (identifier) @name value: (call_expression function: (_) @result)) @variable
(variable_declarator
  name: (identifier) @name
  value: (await_expression (call_expression function: (_) @result))) @variable
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name @variable))
(variable_declarator name: (object_pattern (pair_pattern value: (identifier) @name @variable)))
(variable_declarator name: (array_pattern (identifier) @name @variable))
(object (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @closure)

; what `export default` leaves without a name is called default
(export_statement "default" @name value: [(arrow_function) (function_expression)]) @function
(export_statement "default" @name value: (class)) @class
(export_statement "default" @name value: (object) @body) @variable

; members given from outside: X.f = …, X.prototype.f = …, X.prototype = {…}; and exports.f = …
((assignment_expression
  left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @closure
  (#not-match? @owner "^(exports|module|window|global|globalThis|self)$"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @closure
  (#eq? @_prototype "prototype"))
((assignment_expression
  left: (member_expression object: (identifier) @name property: (property_identifier) @_prototype)
  right: (object) @inside)
  (#eq? @_prototype "prototype"))
((assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @closure
  (#any-of? @_exports "exports" "module.exports"))
((assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name)
  right: [(number) (string) (template_string) (object) (array) (new_expression) (class) (true) (false)]) @variable
  (#any-of? @_exports "exports" "module.exports"))
((assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name)
  right: (call_expression function: (_) @_call)) @variable
  (#any-of? @_exports "exports" "module.exports") (#not-eq? @_call "require"))
((assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
  right: (object) @body) @variable
  (#eq? @_module "module") (#eq? @name "exports"))

; scopes
[(arrow_function) (class_static_block)] @lambda
[(function_expression) (generator_function)] @anonymous
(method_definition name: (computed_property_name)) @anonymous
[(statement_block) (for_statement) (for_in_statement) (switch_body) (catch_clause)] @block
[(object) (class)] @object

; locals
(arrow_function parameter: (identifier) @bind)
(function_expression name: (identifier) @bind)
(array_pattern (identifier) @bind)
(array_pattern (assignment_pattern left: (identifier) @bind))
(rest_pattern (identifier) @bind)
(shorthand_property_identifier_pattern) @bind
(pair_pattern value: (identifier) @bind)
(pair_pattern value: (assignment_pattern left: (identifier) @bind))
(for_in_statement left: (identifier) @bind)
(catch_clause parameter: (identifier) @bind)
(variable_declaration (variable_declarator name: (identifier) @hoisted))

; fields that only a constructor shows
(assignment_expression
  left: (member_expression object: (this) property: [(property_identifier) (private_property_identifier)] @property)
  right: (new_expression constructor: (_) @made))
(assignment_expression
  left: (member_expression object: (this) property: [(property_identifier) (private_property_identifier)] @property)
  right: (identifier) @like)

; statements
(import_statement) @import
(export_statement source: (_)) @import
(export_statement (export_clause)) @import
(export_statement) @export
((variable_declarator value: (call_expression
  function: (identifier) @_require arguments: (arguments . (string)))) @import
  (#eq? @_require "require"))
((variable_declarator value: (member_expression object: (call_expression
  function: (identifier) @_require arguments: (arguments . (string))))) @import
  (#eq? @_require "require"))
(variable_declarator value: (await_expression (call_expression function: (import) arguments: (arguments . (string))))) @import
((call_expression function: (identifier) @_require arguments: (arguments . (string))) @import
  (#eq? @_require "require"))
(call_expression function: (import) arguments: (arguments . (string))) @import
((assignment_expression left: (member_expression) @_exports) @export
  (#match? @_exports "^(module\\.)?exports(\\.[A-Za-z_$][A-Za-z0-9_$]*)?$"))

; places
[(identifier) (shorthand_property_identifier)] @root
((identifier) @skip (#eq? @skip "exports"))
(export_statement value: (identifier) @skip)
[(this) (super)] @self
(member_expression property: [(property_identifier) (private_property_identifier)] @attribute)
(call_expression arguments: (_) @arguments)
(new_expression arguments: (_) @arguments)
(new_expression constructor: (_) @new)
(assignment_expression left: (identifier) @assigned)
((assignment_expression left: (member_expression object: (identifier) @skip)) (#any-of? @skip "exports" "module"))
(augmented_assignment_expression left: (identifier) @assigned)
