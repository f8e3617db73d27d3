"""The nouns of grace: frozen values that cross rooms. Nothing in this room does I/O."""
