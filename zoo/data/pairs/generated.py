"""Pairs that exist only as a generator: dates to be converted, symbols to be copied, reversed or sorted, and sentences
whose pronoun has to agree with a noun."""

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from zoo.data.options import LoaderArguments, SampleOptions
from zoo.data.pairs.module import PairData
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.samples import dates, pronouns, symbols
from zoo.data.pairs.sources import generated_pairs
from zoo.data.sources import SampleGenerator, Source
from zoo.data.text.tokenization import RuleTokenizer


class GeneratedPairs(PairData):
    """Pairs of a generator, in its own tokens."""

    noun: ClassVar[str]  # The name of the pairs, in the plural
    tokens: ClassVar[PairTextOptions]  # The options by which a text becomes the generator's tokens
    generate: ClassVar[SampleGenerator]
    arguments: ClassVar[dict[str, Any]] = {}  # Arguments of the generator besides count and seed
    spoken: ClassVar[tuple[str, str]] = ("en", "en")  # The languages of both sides

    def __init__(
        self, *, sample: Mapping[str, Any] | SampleOptions | None = None, **rest: Unpack[LoaderArguments]
    ) -> None:
        """`sample` gives the sizes of the splits."""
        super().__init__(text=self.tokens, languages=self.spoken, **rest)
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        source, target = (RuleTokenizer(self.tokens.tokenizer, name, self.tokens.lower).join for name in self.spoken)
        return generated_pairs(self.generate, self.sample, self.noun, (source, target), **self.generator_arguments())

    def generator_arguments(self) -> dict[str, Any]:
        """The arguments of the generator besides count and seed."""
        return self.arguments


class Dates(GeneratedPairs):
    """Dates in the forms that people write, to be converted to ISO 8601, letter by letter."""

    name = "dates"
    noun = "dates"
    tokens = PairTextOptions(tokenizer="characters", lower=False, minimum_frequency=1, max_length=None)
    generate = staticmethod(dates.generate)


class Pronouns(GeneratedPairs):
    """English sentences with *it*, whose German pronoun has the gender of the noun that *it* refers to."""

    name = "pronouns"
    noun = "sentences"
    tokens = PairTextOptions(tokenizer="whitespace", minimum_frequency=1, max_length=None)
    generate = staticmethod(pronouns.generate)
    spoken = ("en", "de")


class Symbols(GeneratedPairs):
    """Generated sequences; source and target have the same symbols and share a vocabulary."""

    noun = "sequences"
    tokens = PairTextOptions(tokenizer="whitespace", lower=False, minimum_frequency=1, joint=True, max_length=None)
    generate = staticmethod(symbols.generate)


class Copy(Symbols):
    """The target is the source."""

    name = "copy"
    arguments: ClassVar[dict[str, Any]] = {"order": "copy"}


class Reverse(Symbols):
    """The target is the reversed source."""

    name = "reverse"
    arguments: ClassVar[dict[str, Any]] = {"order": "reverse"}


class Sort(Symbols):
    """The target is the sorted source."""

    name = "sort"
    arguments: ClassVar[dict[str, Any]] = {"order": "sort"}
