"""Handwriting as pen points in time order, with or without the text that is written."""
