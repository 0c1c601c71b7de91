"""Splits a sentence into words, and maps an answer to its vocabulary entry. All code uses these functions for both.

As in the paper (Sukhbaatar et al. 2015), case and punctuation are dropped, and a list of words as an answer
(`milk,football`) is one entry.
"""

import unicodedata
from typing import Literal

from zoo.data.text.tokenization import Tokens

Tokenizer = Literal["whitespace", "characters"]
"""Blanks separate words, or each letter is a word, for writing without blanks."""
PUNCTUATION = ".,;:!?\"'()[]"
"""ASCII marks that are dropped at both ends of a word. Other marks, e.g. `#` in `#5`, belong to the word."""


def split_words(sentence: str, tokenizer: Tokenizer = "whitespace") -> Tokens:
    """The words of a sentence; punctuation on its own belongs to the word before it."""
    shown: list[str] = []
    forms: list[str] = []
    tokens = unicodedata.normalize("NFC", sentence).split()
    for token in tokens if tokenizer == "whitespace" else "".join(tokens):
        if form := without_marks(token).lower():
            shown.append(token)
            forms.append(form)
        elif shown:
            shown[-1] += token if tokenizer == "characters" else f" {token}"
    return Tokens(shown, forms)


def without_marks(word: str) -> str:
    """A word without the punctuation at both of its ends, in any script."""
    kept = [place for place, letter in enumerate(word) if not _is_mark(letter)]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def _is_mark(letter: str) -> bool:
    return letter in PUNCTUATION if letter.isascii() else unicodedata.category(letter).startswith("P")


def answer_form(answer: str) -> str:
    """An answer as the vocabulary has it; empty if it has no word."""
    parts = (" ".join(split_words(part).forms) for part in answer.split(","))
    return ",".join(filter(None, parts))
