"""Pairs that exist only as a generator: no file, no hub, tokens that are given."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from zoo.data.options import LoaderArguments, SampleOptions
from zoo.data.pairs.module import PairData
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.sources import generated_pairs
from zoo.data.sources import SampleGenerator, Source
from zoo.data.text.tokenization import RuleTokenizer


class GeneratedPairs(PairData):
    """Pairs of a generator, in the tokens that it makes."""

    noun: ClassVar[str]
    """What a pair is."""
    tokens: ClassVar[PairTextOptions]
    """What its tokens are."""

    def __init__(
        self,
        *,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[LoaderArguments],
    ) -> None:
        """`sample` gives the sizes of the splits."""
        super().__init__(text=self.tokens, **rest)
        self.sample = SampleOptions.of(sample)

    @abstractmethod
    def sample_generator(self) -> SampleGenerator:
        """The generator of the pairs."""

    def open_source(self) -> Source:
        join = RuleTokenizer(self.tokens.tokenizer, "en", self.tokens.lower).join
        return generated_pairs(self.sample_generator(), self.sample, self.noun, (join, join))
