"""C and C++: facts by tree-sitter, and where the headers of a tree lie."""
