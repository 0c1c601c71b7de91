"""Sequences of bits that are read step by step, and bits that are written at some of the steps."""
