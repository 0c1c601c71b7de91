"""A cloze question as words: the row that readers and generators of cloze questions yield."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class ClozeQuestion:
    """A document, a sentence about it with one word removed, and candidates for that word."""

    sentences: list[list[str]]
    """Sentences of the document, as words."""
    query: list[str]
    """Words of the sentence, with `BLANK` instead of the removed word."""
    candidates: list[str]
    """Candidate answers, which are words of the document."""
    answer: str | None
    """One of the candidates; None for a question that a user asks."""
    evidence: tuple[int, ...] = ()
    """Numbers, from 0, of the sentences that imply the answer, if they are known."""


class Shown(NamedTuple):
    """A question as it was written, with words instead of ids and candidates in the order of their numbers."""

    document: list[str]
    query: list[str]
    candidates: list[str]
    sentence_ends: list[int]  # End of each sentence of the document, counted in words


BLANK = "XXXXX"  # The word that replaces the removed one; readers of all formats use it
