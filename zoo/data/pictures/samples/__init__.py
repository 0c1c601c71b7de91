"""Generated pictures."""
