"""Seeded generators of documents whose evidence is known."""
