"""Brackets and quotation marks as the Penn Treebank writes them, and as people do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from zoo.data.text.vocabulary import Vocabulary

BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
QUOTES = ("``", "''")
"""What opens and what closes."""
PLAIN = {
    **{name: mark for mark, name in BRACKETS.items()},
    **{name.lower(): mark for mark, name in BRACKETS.items()},
    **dict.fromkeys(QUOTES, '"'),
}
"""The mark that people write, by those of the treebank."""


class Spelling:
    """Marks as a vocabulary has them, where it has them in the one form and a text in the other."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        pairs = [*PLAIN.items(), *((mark, name) for name, mark in PLAIN.items() if name not in QUOTES)]
        self._known = {form: other for form, other in pairs if form not in vocabulary and other in vocabulary}
        self._quotes = '"' not in vocabulary and all(quote in vocabulary for quote in QUOTES)

    def __call__(self, forms: Sequence[str]) -> list[str]:
        """The same words; one sort of mark for both quotes opens and closes by turns."""
        turn = cycle(QUOTES)
        found = (next(turn) if self._quotes and form == '"' else form for form in forms)
        return [self._known.get(form, form) for form in found]
