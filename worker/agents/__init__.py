"""Agents: what edits the code in the sandbox, one file a kind."""
