"""Generated dialogues."""
