"""Pairs that exist only as a generator, whose tokens are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from zoo.data.options import LoaderArguments, SampleOptions
from zoo.data.pairs.module import PairData
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.sources import generated_pairs
from zoo.data.sources import SampleGenerator, Source
from zoo.data.text.tokenization import RuleTokenizer


class GeneratedPairs(PairData):
    """Pairs of a generator, in its own tokens."""

    noun: ClassVar[str]
    """The name of the pairs, in the plural."""
    tokens: ClassVar[PairTextOptions]
    """The options by which a text becomes the generator's tokens."""
    generate: ClassVar[SampleGenerator]

    def __init__(
        self,
        *,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[LoaderArguments],
    ) -> None:
        """`sample` gives the sizes of the splits."""
        super().__init__(text=self.tokens, **rest)
        self.sample = SampleOptions.of(sample)

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the generator besides count and seed."""
        return {}

    def open_source(self) -> Source:
        join = RuleTokenizer(self.tokens.tokenizer, "en", self.tokens.lower).join
        return generated_pairs(self.generate, self.sample, self.noun, (join, join), **self.arguments)
