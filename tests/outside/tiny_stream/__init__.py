"""A language model of characters, with the state carried from batch to batch, in a folder of its own.

A user's package looks like this one. Nothing in zoo knows of it.
"""
