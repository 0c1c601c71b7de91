"""From a corpus or a generator to batches: one folder a family, one file a corpus; here what all families share."""
