"""Optimisers of papers that torch does not have."""
