"""One file a gate."""
