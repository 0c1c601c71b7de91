"""Drawings of one kind of data: images, points, memories."""
