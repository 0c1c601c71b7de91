"""The floor of families whose networks write a text from a text, and may copy its words."""
