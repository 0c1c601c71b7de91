"""Sequences of bits that are read step by step, and the bits to be written at some of the steps."""
