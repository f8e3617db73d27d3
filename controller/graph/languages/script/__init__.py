"""JavaScript, TypeScript and JSX: facts by tree-sitter, and how modules and workspaces find each other."""
