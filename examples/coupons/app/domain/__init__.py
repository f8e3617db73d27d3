"""What the shop is about, without input or output."""
