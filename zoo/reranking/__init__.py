"""The N best answers of a reader judged again, by language models of the sentence with each of them in its blank."""
