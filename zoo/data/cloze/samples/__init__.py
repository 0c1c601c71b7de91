"""Generators of cloze questions."""
