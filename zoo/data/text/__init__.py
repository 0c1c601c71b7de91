"""Sentences, tokens, vocabularies and word vectors, for every family that reads text."""
