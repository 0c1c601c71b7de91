"""From a sentence to its words and from an answer to its entry of the vocabulary: the one place that decides on both.

As in the paper (Sukhbaatar et al. 2015) case and punctuation are dropped, and a list of words as an answer
(`milk,football`) is one entry.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

PUNCTUATION = ".,;:!?\"'()[]"
"""Dropped at both ends of a word."""


class Words(NamedTuple):
    """A sentence in words."""

    shown: list[str]
    """As they are written, with their punctuation."""
    forms: list[str]
    """As the vocabulary knows them."""


def split_words(sentence: str) -> Words:
    """The words between the blanks of a sentence; punctuation that stands alone belongs to the word before it."""
    shown: list[str] = []
    forms: list[str] = []
    for token in unicodedata.normalize("NFC", sentence).split():
        if form := token.strip(PUNCTUATION).lower():
            shown.append(token)
            forms.append(form)
        elif shown:
            shown[-1] += f" {token}"
    return Words(shown, forms)


def answer_form(answer: str) -> str:
    """An answer as the vocabulary knows it; empty where it holds no word."""
    parts = (" ".join(split_words(part).forms) for part in answer.split(","))
    return ",".join(filter(None, parts))
