(class_declaration (class_heritage (_) @base))
(class (class_heritage (_) @base))
(field_definition property: [(property_identifier) (private_property_identifier)] @name) @field
(field_definition
  property: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)]) @closure
(field_definition value: (new_expression constructor: (_) @made)) @field
(formal_parameters (identifier) @bind)
(formal_parameters (assignment_pattern left: (identifier) @bind))
(class name: (identifier) @skip)
