"""One cloze question, before its words are numbered: what readers and generators give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class ClozeQuestion:
    """A document, a sentence that goes on from it or sums it up with one word taken out, and candidates for it."""

    sentences: list[list[str]]
    """Of the document, as words."""
    query: list[str]
    """The sentence as words, `BLANK` in the place of the one that was taken out."""
    candidates: list[str]
    """Words of the document."""
    answer: str | None
    """One of the candidates; None of a question that a user asks."""
    evidence: tuple[int, ...] = ()
    """Numbers, from 0, of the sentences from which the answer follows, where they are known."""


class Shown(NamedTuple):
    """A question as it was written: each word in the place of its id, the candidates in the order of their numbers."""

    document: list[str]
    query: list[str]
    candidates: list[str]
    sentence_ends: list[int]
    """Where each sentence of the document ends, in words."""


BLANK = "XXXXX"
"""The place of the word that was taken out, in every format once it is read."""
