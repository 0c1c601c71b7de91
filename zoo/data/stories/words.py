"""Splits a sentence into words, and maps an answer to its vocabulary entry. All code uses these functions for both.

As in the paper (Sukhbaatar et al. 2015), case and punctuation are dropped, and a list of words as an answer
(`milk,football`) is one entry.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, NamedTuple

Tokenizer = Literal["whitespace", "characters"]
"""Blanks separate words, or each letter is a word, for writing without blanks."""
PUNCTUATION = ".,;:!?\"'()[]"
"""ASCII marks that are dropped at both ends of a word. Other marks, e.g. `#` in `#5`, belong to the word."""


class SentenceWords(NamedTuple):
    """A sentence in words."""

    shown: list[str]
    """As they are written, with their punctuation."""
    forms: list[str]
    """As the vocabulary has them."""

    def first(self, most: int) -> SentenceWords:
        """The first `most` words."""
        return SentenceWords(self.shown[:most], self.forms[:most])


def split_words(sentence: str, tokenizer: Tokenizer = "whitespace") -> SentenceWords:
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
    return SentenceWords(shown, forms)


def without_marks(word: str) -> str:
    """A word without the punctuation at both of its ends, in any script."""
    word = word.strip(PUNCTUATION)
    while word and not (word[0].isascii() and word[-1].isascii()):
        inner = word
        for end in (word[0], word[-1]):
            if not end.isascii() and unicodedata.category(end).startswith("P"):
                inner = inner.strip(end + PUNCTUATION)
        if inner == word:
            break
        word = inner
    return word


def answer_form(answer: str) -> str:
    """An answer as the vocabulary has it; empty if it has no word."""
    parts = (" ".join(split_words(part).forms) for part in answer.split(","))
    return ",".join(filter(None, parts))
