"""Sounds as samples, with or without classes."""
