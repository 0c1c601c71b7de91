"""The embedded sample: generated scenes."""
