; Tests of jest, vitest, mocha, jasmine and node:test: calls whose callee starts with one of their words.
((call_expression
  function: [(identifier) (member_expression) (call_expression)] @callee
  arguments: (arguments)) @test
 (#match? @callee "^(describe|context|suite|fdescribe|xdescribe|xcontext|it|fit|xit|test|xtest|specify|xspecify|bench)([^A-Za-z0-9_$]|$)"))

; Assertions: expect(…).x(…), assert(…), assert.x(…), x.should.y, t.is(…). The sweep takes the whole chain.
((call_expression function: (identifier) @callee) @assertion
 (#match? @callee "^(expect|assert)[A-Za-z]*$"))
((call_expression function: (member_expression object: (identifier) @owner)) @assertion
 (#match? @owner "^(assert|chai)$"))
((call_expression function: (member_expression object: (identifier) @owner property: (_) @word)) @assertion
 (#eq? @owner "t")
 (#match? @word "^(is|not|deepEqual|notDeepEqual|like|truthy|falsy|true|false|throws|throwsAsync|notThrows|regex|equal|same|ok|fail|strictEqual|snapshot|assert)$"))
((member_expression property: (property_identifier) @word) @assertion (#eq? @word "should"))

; Skipped from within.
((call_expression function: (member_expression) @callee) @skip
 (#match? @callee "^(this|ctx|context|t)[.]skip$"))

; What is no test at the top of a file: helpers, constants.
(program (function_declaration name: (_) @name) @support)
(program (export_statement (function_declaration name: (_) @name)) @support)
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @support)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @support)
(program (class_declaration name: (_) @name) @support)

; What stands around `expect(x)`: its links are followed to the last call.
(member_expression object: (_) @inner) @outer
(call_expression function: (_) @inner) @outer
(await_expression (call_expression) @inner) @outer
