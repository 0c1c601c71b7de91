"""What the samples of pairs have in common."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """One generated pair, with the source tokens known that each target token comes from."""

    source: list[str]
    target: list[str]
    alignment: list[tuple[int, int]]
    """(source position, target position), sorted; no end token. A target token that comes from nothing has no link, one
    that depends on several source tokens has several."""
