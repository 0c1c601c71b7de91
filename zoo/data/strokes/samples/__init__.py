"""Generated handwriting."""
