"""The floor of families whose networks write captions: of pictures, and of clips, which are sequences of pictures."""
