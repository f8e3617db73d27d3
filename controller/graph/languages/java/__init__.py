"""Java: facts by tree-sitter, and packages over every source root of a tree."""
