"""Pairs of a source and a target sequence of tokens."""
