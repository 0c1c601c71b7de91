"""Arithmetic on symbols: the parity of strings of bits, and the sum of two numbers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from zoo.arguments import Count
from zoo.data.options import LoaderArguments, SampleOptions
from zoo.data.pairs.encoding import PairEncoder
from zoo.data.pairs.generated import GeneratedPairs
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.samples import arithmetic
from zoo.data.parts import Words
from zoo.errors import ConfigError
from zoo.values import hold

SYMBOLS = PairTextOptions(tokenizer="whitespace", lower=False, minimum_frequency=1, joint=True, max_length=None)


class ParityEncoder(PairEncoder):
    """Pairs of bits and one word, which needs no note that texts of one word were not cut."""

    parts = tuple(replace(part, unit="") if isinstance(part, Words) else part for part in PairEncoder.parts)


class Parity(GeneratedPairs):
    """Strings of bits; the target is the word even or odd, by the number of ones."""

    name = "parity"
    encoding = ParityEncoder
    noun = "strings of bits"
    tokens = SYMBOLS
    generate = staticmethod(arithmetic.parity)

    def __init__(
        self,
        *,
        shortest: Count = 1,
        longest: Count = 20,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[LoaderArguments],
    ) -> None:
        """
        Args:
            shortest: bits of the shortest strings.
            longest: bits of the longest strings.
            sample: the sizes of the splits.
            rest: the arguments of `PairData`.
        """
        self.bounds = lengths(shortest=shortest, longest=longest)
        super().__init__(sample=sample, **rest)

    def generator_arguments(self) -> dict[str, Any]:
        return self.bounds


class Addition(GeneratedPairs):
    """Two numbers with a plus between them; the target is their sum, digit by digit from the most significant one."""

    name = "addition"
    noun = "sums"
    tokens = SYMBOLS
    generate = staticmethod(arithmetic.addition)

    def __init__(
        self,
        *,
        shortest: Count = 1,
        digits: Count = 3,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[LoaderArguments],
    ) -> None:
        """
        Args:
            shortest: digits of the shortest numbers.
            digits: digits of the longest numbers.
            sample: the sizes of the splits.
            rest: the arguments of `PairData`.
        """
        self.bounds = lengths(shortest=shortest, digits=digits)
        super().__init__(sample=sample, **rest)

    def generator_arguments(self) -> dict[str, Any]:
        return self.bounds


def lengths(**bounds: int) -> dict[str, int]:
    """The shortest and the longest length, by their keys. Raises ConfigError unless they are positive and in order."""
    for key, value in bounds.items():
        hold(f"data.{key}", value, Count)
    (_, least), (longest, most) = bounds.items()
    if least > most:
        raise ConfigError(
            f"data.shortest={least}: it is more than data.{longest}={most}; set data.shortest={most} or less"
        )
    return bounds
