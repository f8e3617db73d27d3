; Tests of the testing package, and literal subtests.
((function_declaration name: (identifier) @name body: (block)) @test
 (#match? @name "^(Test|Fuzz|Example|Benchmark)([^a-z]|$)"))
((call_expression
  function: (selector_expression field: (field_identifier) @run)
  arguments: (argument_list . [(interpreted_string_literal) (raw_string_literal)] @name . (func_literal))) @test
 (#eq? @run "Run"))

; A table of cases: a list of literals, or a map with literal keys, in braces of its own.
(composite_literal
  type: [(slice_type element: (struct_type)) (map_type value: (struct_type)) (slice_type element: (type_identifier))]
  body: (literal_value) @table)

; Assertions: what fails a test, and testify and its like.
((call_expression function: (selector_expression field: (field_identifier) @fail)) @assertion
 (#match? @fail "^(Error|Errorf|Fatal|Fatalf|Fail|FailNow)$"))
(if_statement condition: (_) @outer
  consequence: (block (statement_list (expression_statement (call_expression) @inner))))
((call_expression function: (selector_expression operand: (identifier) @owner field: (_) @verb)) @assertion
 (#match? @owner "^(assert|require|is|qt|c|g)$"))

((call_expression function: (selector_expression field: (field_identifier) @word)) @skip
 (#match? @word "^(Skip|Skipf|SkipNow)$"))
(function_declaration body: (block (statement_list (expression_statement (call_expression) @inner)))) @outer
(func_literal body: (block (statement_list (expression_statement (call_expression) @inner)))) @outer

(source_file (function_declaration name: (identifier) @name) @support)
(source_file (method_declaration name: (field_identifier) @name) @support)
(source_file (var_declaration (var_spec name: (identifier) @name)) @support)
(source_file (const_declaration (const_spec name: (identifier) @name)) @support)
