"""Pictures without captions, with or without classes."""
