"""Mirrors zoo/, plus what holds for the whole catalogue: contracts, imports, the house."""
