"""Test files of other languages than Python, read by tree-sitter: one query and one module a language."""
