"""Sets of points, and sequences of pointers into them."""
