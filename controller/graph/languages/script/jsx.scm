; Components are called; an element in lower case is the browser's own.
(jsx_opening_element name: (_) @new)
(jsx_self_closing_element name: (_) @new)
((jsx_opening_element name: (identifier) @skip) (#match? @skip "^[a-z]"))
((jsx_self_closing_element name: (identifier) @skip) (#match? @skip "^[a-z]"))
(jsx_closing_element name: (identifier) @skip)
(jsx_closing_element name: (member_expression object: (identifier) @skip))
