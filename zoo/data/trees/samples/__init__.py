"""Generators of trees whose meaning is known."""
