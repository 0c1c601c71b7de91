"""Documents with a sentence from which one word is taken: cloze questions."""
