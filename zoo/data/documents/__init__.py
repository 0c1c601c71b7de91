"""Documents of sentences of words, each with one class."""
