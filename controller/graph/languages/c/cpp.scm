; What C++ has besides.

(namespace_definition) @namespace
(namespace_alias_definition) @namespace_alias
(class_specifier body: (_)) @class
(class_specifier) @forward
(alias_declaration) @typedef
(using_declaration) @using
[(optional_parameter_declaration) (variadic_parameter_declaration)] @parameter
(type_parameter_declaration (type_identifier) @opaque)
(variadic_type_parameter_declaration (type_identifier) @opaque)
(optional_type_parameter_declaration name: (type_identifier) @opaque)
(template_template_parameter_declaration (type_parameter_declaration (type_identifier) @opaque))
[(template_declaration) (lambda_expression) (catch_clause) (for_range_loop) (if_statement) (while_statement)] @block
(for_range_loop) @loop
(structured_binding_declarator (identifier) @plain)

(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(new_expression type: (_) @made)
(qualified_identifier) @qualified
