"""Seeded generators of data whose true evidence is known."""
