; What the graph needs of C and of C++ alike.

(preproc_include path: (_) @include)
[(preproc_def) (preproc_function_def)] @macro
(preproc_ifdef name: (identifier) @name)

[(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))] @class
[(struct_specifier) (union_specifier)] @forward
(enumerator name: (identifier)) @enumerator
(type_definition) @typedef
(function_definition) @function
(declaration) @declaration
(field_declaration) @field
(parameter_declaration) @parameter
[(compound_statement) (for_statement)] @block

(call_expression) @call
(type_identifier) @type
(identifier) @name
