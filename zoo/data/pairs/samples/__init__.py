"""Seeded generators of pairs whose alignment is known."""
