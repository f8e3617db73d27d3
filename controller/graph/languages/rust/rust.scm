; Names, in order of their bytes; what follows `::` or `.` is read on from the name before it.
[(identifier) (type_identifier) (self) (super) (crate)] @name
(field_identifier) @attribute

; What may stand inside a path.
(arguments) @arguments
(token_tree) @arguments @tree
(type_arguments) @jump
(index_expression) @index

; What is not looked into.
[(attribute_item) (inner_attribute_item) (macro_definition) (visibility_modifier)] @skip

; Scopes.
(mod_item) @module
[(struct_item) (enum_item) (union_item) (type_item) (trait_item)] @class
(impl_item) @impl
[(function_item) (function_signature_item)] @function
[
  (block) (closure_expression) (for_expression) (while_expression) (if_expression) (match_arm)
] @block

; What binds.
(use_declaration) @use
(extern_crate_declaration) @extern
[(const_item) (static_item)] @value
(field_declaration) @field
(ordered_field_declaration_list) @tuple
(enum_variant) @variant
(type_parameter) @opaque
(where_predicate) @where
(let_declaration) @let
(let_condition) @condition
(parameter) @parameter
(self_parameter) @self
(closure_parameters) @closure
(match_pattern) @match
(for_expression) @for
