"""The generated sample of sounds."""
