"""Trees: where nodes are placed, how classes are marked, and the drawing."""
