; What the graph needs of a Java file. Names in front of a dot are read from the node around them.

(package_declaration [(identifier) (scoped_identifier)] @package)
(import_declaration) @import

[(class_declaration) (interface_declaration) (enum_declaration) (record_declaration) (annotation_type_declaration)] @class
[(method_declaration) (constructor_declaration) (compact_constructor_declaration)
 (annotation_type_element_declaration)] @function
(object_creation_expression (class_body) @anonymous)
(enum_constant (class_body) @anonymous)
[(block) (constructor_body) (lambda_expression) (for_statement) (enhanced_for_statement) (catch_clause)
 (try_with_resources_statement) (switch_rule) (switch_block_statement_group) (if_statement) (while_statement)] @block

[(field_declaration) (constant_declaration)] @field
(enum_constant) @constant
[(local_variable_declaration) (formal_parameter) (spread_parameter) (catch_formal_parameter) (resource)
 (enhanced_for_statement) (record_pattern_component) (type_pattern)] @variable
(instanceof_expression name: (identifier)) @variable
(lambda_expression parameters: (identifier) @plain)
(inferred_parameters (identifier) @plain)
(type_parameter . (type_identifier) @parameter)

(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
(object_creation_expression type: (_) @made)

(method_invocation) @call
(method_reference) @reference
(field_access) @access
[(type_identifier) (scoped_type_identifier)] @type
[(marker_annotation name: (_) @type) (annotation name: (_) @type)]
(identifier) @name

(element_value_pair key: (identifier) @skip)
(labeled_statement (identifier) @skip)
[(break_statement (identifier) @skip) (continue_statement (identifier) @skip)]
(switch_label (identifier) @skip)
