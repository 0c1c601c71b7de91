"""Points with lines between them."""
