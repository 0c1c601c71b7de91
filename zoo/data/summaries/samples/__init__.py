"""Seeded generators of articles whose summaries state facts that are at known places."""
