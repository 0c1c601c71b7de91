"""Trees: where nodes are placed, how classes are marked, and how each renderer draws them."""
