(class_declaration name: (identifier) @name) @group
(record_declaration name: (identifier) @name) @group
(interface_declaration name: (identifier) @name) @group
(method_declaration name: (identifier) @name) @test
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @support

((method_invocation name: (identifier) @verb) @assertion
 (#match? @verb "^(assert|verify|expect|fail|then|should)"))
((method_invocation name: (identifier) @verb) @skip
 (#match? @verb "^(assume|assuming|abort)"))

(method_invocation object: (method_invocation) @inner) @outer
