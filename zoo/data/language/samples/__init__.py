"""Generators of texts whose probabilities are known."""
