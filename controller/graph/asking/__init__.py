"""Questions to the graph of one tree: who needs what, by which way, and pictures of it."""
