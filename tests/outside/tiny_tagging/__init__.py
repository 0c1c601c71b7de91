"""A family of data with its task and a network, in a folder of its own: one label a token.

A user's package looks like this one. Nothing in zoo knows of it.
"""
