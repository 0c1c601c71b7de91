"""Images, and the attention to their parts."""
