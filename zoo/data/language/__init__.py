"""Text as one stream of tokens, whose next token is to be predicted."""
