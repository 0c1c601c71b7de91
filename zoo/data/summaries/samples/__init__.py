"""Seeded generators of articles whose summaries state facts that stand at known places."""
