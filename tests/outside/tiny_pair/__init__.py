"""A generator and a discriminator, each with an optimiser of its own, in a folder of their own.

A user's package looks like this one. Nothing in zoo knows of it.
"""
