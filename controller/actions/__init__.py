"""What the kernel asks for, done: one file an action."""
