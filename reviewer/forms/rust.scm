; Functions are read block by block, together with the attributes that stand before them.
(source_file) @test
(mod_item name: (identifier) @name body: (declaration_list)) @group
(mod_item body: (declaration_list) @test)

((macro_invocation macro: [(identifier) (scoped_identifier)] @verb) @assertion
 (#match? @verb "(^|::)((debug_|prop_)?assert[a-z_]*|panic|unreachable)$"))
((call_expression function: (field_expression field: (field_identifier) @verb)) @assertion
 (#match? @verb "^(unwrap|expect|unwrap_err|expect_err)$"))
