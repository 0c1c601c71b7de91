"""Generators of stories."""
