"""Generated sounds."""
