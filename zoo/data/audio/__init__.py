"""Sounds and their transcripts."""
