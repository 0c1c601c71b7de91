"""Dialogues, whose turns are replies to all turns before them."""
