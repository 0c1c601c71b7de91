"""The embedded sample: generated clips."""
