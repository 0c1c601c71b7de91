"""Dates in the forms that people write, to be converted to ISO 8601, letter by letter."""

from __future__ import annotations

from zoo.data.pairs.generated import GeneratedPairs
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.samples import dates


class Dates(GeneratedPairs):
    """Generated dates."""

    name = "dates"
    noun = "dates"
    tokens = PairTextOptions(tokenizer="characters", lower=False, minimum_frequency=1, max_length=None)
    generate = staticmethod(dates.generate)
