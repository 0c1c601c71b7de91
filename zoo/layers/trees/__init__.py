"""Forests, and the layers that read the states of their nodes."""
