"""Dynamic n-grams: each bit is to be foretold from those before it, in a sequence from a table of n-grams that nobody
has seen (Graves et al. 2014, section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zoo.arguments import Count
from zoo.data.bits.goal import BitSequence, Goal, Sizes, vectors_of
from zoo.data.bits.stream import BitStream, Range, cases_of, range_of
from zoo.data.options import LoaderOptions, SampleOptions
from zoo.errors import ConfigError, DataError

LONGEST_CONTEXT = 16


@dataclass(frozen=True)
class DynamicNgrams(Goal):
    """One channel: the bit before the one that is to be foretold, and 0 at the first step. Every step is scored. The
    chance of a 1 behind each context of n - 1 bits is drawn from Beta(1/2, 1/2) for each sequence; the bits that have
    no whole context before them are 1 with chance 1/2."""

    separator: ClassVar[str] = ""
    context: int
    """n - 1, the bits on which the next depends."""

    @property
    def form(self) -> str:
        return "bits, with or without blanks between them"

    @property
    def in_width(self) -> int:
        return 1

    @property
    def out_width(self) -> int:
        return 1

    def steps(self, sizes: Sizes) -> int:
        (length,) = sizes
        return length

    def draw(self, sizes: Sizes, draw: np.random.Generator) -> BitSequence:
        (length,) = sizes
        table = draw.beta(0.5, 0.5, 2**self.context).tolist()
        bits: list[int] = []
        last, mask = 0, 2**self.context - 1
        for number, chance in enumerate(draw.random(length).tolist()):
            bit = int(chance < (table[last] if number >= self.context else 0.5))
            last = (last << 1 | bit) & mask
            bits.append(bit)
        return self.sequence(bits)

    def sequence(self, bits: Sequence[int]) -> BitSequence:
        """The sequence in which each of these bits is to be foretold."""
        targets = np.array(bits, np.float32)[:, None]
        inputs = np.concatenate([np.zeros((1, 1), np.float32), targets[:-1]])
        optimal = float(-np.log2(self.optimal_chances(bits)).sum())
        return BitSequence(inputs, targets, np.ones(len(bits), np.bool_), optimal_bits=optimal)

    def optimal_chances(self, bits: Sequence[int]) -> NDArray[np.float64]:
        """(T,) the chance that the Bayesian predictor gave to each bit: (N1 + 1/2) / (N1 + N0 + 1) of a 1, where N1 and
        N0 count the bits behind the same context so far (Murphy 2012; Graves et al. 2014, equation 10)."""
        counts = [[0.5, 0.5] for _ in range(2**self.context)]
        chances: list[float] = []
        last, mask = 0, 2**self.context - 1
        for number, bit in enumerate(bits):
            if number < self.context:
                chances.append(0.5)
            else:
                seen = counts[last]
                chances.append(seen[bit] / (seen[0] + seen[1]))
                seen[bit] += 1
            last = (last << 1 | bit) & mask
        return np.array(chances)

    def parse(self, line: str) -> BitSequence:
        word = "".join(line.split())
        try:
            return self.sequence(vectors_of([word], len(word))[0].astype(int).tolist())
        except DataError:
            wrong = next(letter for letter in word if letter not in "01")
            raise DataError(f"expected bits, each 0 or 1, found {wrong!r}") from None

    def typed(self, sequence: BitSequence) -> str:
        """Where nothing says what is to be foretold, all bits but the last, which is not read."""
        return self.written(sequence.targets if len(sequence.targets) else sequence.inputs[1:])


class Ngrams(BitStream):
    """Sequences of bits to be foretold."""

    name = "dynamic_ngrams"

    def __init__(
        self,
        *,
        length: Range = 200,
        context: Count = 5,
        test_lengths: Sequence[Count] = (200,),
        alike: bool = True,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        loader: Mapping[str, Any] | LoaderOptions | None = None,
    ) -> None:
        """Each bit follows from the `context` before it. `length` bits in training and validation, a number or the
        fewest and the most, each with the same chance; `test_lengths` of them in the parts of the test. The rest as in
        `BitStream`."""
        if context > LONGEST_CONTEXT:
            raise ConfigError(
                f"data.context={context}: expected at most {LONGEST_CONTEXT}, since the table has a row for each "
                f"of the 2^{context} contexts"
            )
        super().__init__(
            DynamicNgrams(context),
            {"length": range_of("length", length)},
            cases_of("test_lengths", "length", test_lengths),
            alike=alike,
            sample=sample,
            loader=loader,
        )
