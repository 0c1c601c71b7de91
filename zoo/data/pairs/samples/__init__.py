"""Seeded generators of pairs whose alignment is known."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """A generated pair, with the source tokens of each target token."""

    source: list[str]
    target: list[str]
    alignment: list[tuple[int, int]]
    """Sorted (source position, target position) pairs, without the end token.

    A target token has a link to every source token that it depends on, which may be none.
    """
    references: tuple[tuple[int, int], ...] = ()
    """(Source position of a word, source position of the word that it refers to), such as a pronoun and its noun."""

    def turned(self) -> Pair:
        """The pair in the other direction, without references."""
        return Pair(self.target, self.source, sorted((target, source) for source, target in self.alignment))
