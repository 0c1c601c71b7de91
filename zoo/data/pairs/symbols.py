"""Sequences of symbols to be copied, reversed or sorted."""

from __future__ import annotations

from zoo.data.pairs.generated import GeneratedPairs
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.samples import symbols
from zoo.data.sources import SampleGenerator


class Symbols(GeneratedPairs):
    """Generated sequences; source and target are of the same symbols, so that they share a vocabulary."""

    noun = "sequences"
    tokens = PairTextOptions(tokenizer="whitespace", lower=False, minimum_frequency=1, joint=True, max_length=None)


class Copy(Symbols):
    """The target is the source."""

    name = "copy"

    def sample_generator(self) -> SampleGenerator:
        return symbols.generate_copy


class Reverse(Symbols):
    """The target is the source from its end."""

    name = "reverse"

    def sample_generator(self) -> SampleGenerator:
        return symbols.generate_reverse


class Sort(Symbols):
    """The target is the source in the order of its symbols."""

    name = "sort"

    def sample_generator(self) -> SampleGenerator:
        return symbols.generate_sort
