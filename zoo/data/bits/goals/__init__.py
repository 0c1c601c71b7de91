"""Goals apart from their streams: predictions need the goals alone."""
