"""Brackets and quotation marks in the forms of the Penn Treebank and of ordinary text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from zoo.data.text.vocabulary import Vocabulary

BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
QUOTES = ("``", "''")
"""The opening and the closing quotation mark of the treebank."""
PLAIN = {
    **{name: mark for mark, name in BRACKETS.items()},
    **{name.lower(): mark for mark, name in BRACKETS.items()},
    **dict.fromkeys(QUOTES, '"'),
}
"""The ordinary mark for each mark of the treebank."""


class Spelling:
    """Replaces marks that a vocabulary has only in the other form."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        pairs = [*PLAIN.items(), *((mark, name) for name, mark in PLAIN.items() if name not in QUOTES)]
        self._known = {form: other for form, other in pairs if form not in vocabulary and other in vocabulary}
        self._quotes = '"' not in vocabulary and all(quote in vocabulary for quote in QUOTES)

    def __call__(self, forms: Sequence[str]) -> list[str]:
        """The words in the spelling of the vocabulary. A `"` becomes the opening and the closing mark alternately."""
        turn = cycle(QUOTES)
        found = (next(turn) if self._quotes and form == '"' else form for form in forms)
        return [self._known.get(form, form) for form in found]
