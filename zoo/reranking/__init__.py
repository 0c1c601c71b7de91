"""Re-ranking of a reader's N best answers by language models that score the sentence with each answer in its blank."""
