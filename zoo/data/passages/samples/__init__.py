"""A seeded generator of articles with known evidence."""
