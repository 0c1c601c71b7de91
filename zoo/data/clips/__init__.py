"""Clips, which are sequences of frames, with captions."""
