"""Python: facts by tree-sitter, and where dotted names lie in a tree."""
