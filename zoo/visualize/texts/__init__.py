"""Texts: fonts, widths, and how strongly words are shown."""
