"""Sequences of symbols to be copied, reversed or sorted."""

from __future__ import annotations

from typing import Any

from zoo.data.pairs.generated import GeneratedPairs
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.samples import symbols


class Symbols(GeneratedPairs):
    """Generated sequences; source and target have the same symbols and share a vocabulary."""

    noun = "sequences"
    tokens = PairTextOptions(tokenizer="whitespace", lower=False, minimum_frequency=1, joint=True, max_length=None)
    generate = staticmethod(symbols.generate)

    @property
    def arguments(self) -> dict[str, Any]:
        return {"order": self.name}


class Copy(Symbols):
    """The target is the source."""

    name = "copy"


class Reverse(Symbols):
    """The target is the reversed source."""

    name = "reverse"


class Sort(Symbols):
    """The target is the sorted source."""

    name = "sort"
