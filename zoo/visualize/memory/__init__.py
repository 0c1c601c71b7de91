"""The memory of a network over time, and the bits that it writes."""
