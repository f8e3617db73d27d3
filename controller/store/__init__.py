"""What is remembered: our own tables in SQLite."""
