"""The knowledge graph of a git tree."""
