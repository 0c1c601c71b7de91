"""One run: from the configuration to the report."""
