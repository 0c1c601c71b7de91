"""Articles and their summaries."""
