"""Copy: vectors of bits are read, then a delimiter, and then written again in order (Graves et al.

2014, section 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from zoo.arguments import Count
from zoo.data.bits.goal import (
    BitSequence,
    Goal,
    Reals,
    Sizes,
    answered_at_the_end,
    random_bits,
    vectors_of,
    vectors_text,
)
from zoo.data.bits.stream import BitArguments, BitStream, Range, cases_of, range_of


@dataclass(frozen=True)
class Copy(Goal):
    """Channels: the bits of a vector, and one for the delimiter. A sequence of L vectors takes 2L + 1 steps."""

    bits: int

    @property
    def form(self) -> str:
        return f"vectors of {self.bits} bits separated by blanks"

    @property
    def in_width(self) -> int:
        return self.bits + 1

    @property
    def out_width(self) -> int:
        return self.bits

    def steps(self, sizes: Sizes) -> int:
        (length,) = sizes
        return 2 * length + 1

    def draw(self, sizes: Sizes, draw: np.random.Generator) -> BitSequence:
        (length,) = sizes
        return self.sequence(random_bits(draw, length, self.bits))

    def sequence(self, vectors: Reals) -> BitSequence:
        """The sequence whose target is a copy of the vectors (L, bits)."""
        read = np.zeros((len(vectors) + 1, self.in_width), np.float32)
        read[:-1, : self.bits] = vectors
        read[-1, self.bits] = 1
        return answered_at_the_end(read, vectors)

    def parse(self, line: str) -> BitSequence:
        return self.sequence(vectors_of(line.split(), self.bits))

    def typed(self, sequence: BitSequence) -> str:
        inputs = sequence.inputs
        return vectors_text(inputs[: int(inputs[:, self.bits].argmax()), : self.bits])


class CopyBits(BitStream):
    """Sequences to be copied."""

    name = "copy_bits"

    def __init__(
        self,
        *,
        length: Range = (1, 20),
        bits: Count = 8,
        test_lengths: Sequence[Count] = (20, 30, 50, 120),
        **rest: Unpack[BitArguments],
    ) -> None:
        """`length` is the number of vectors in training and validation, or [fewest, most], drawn uniformly.

        `test_lengths` are the numbers of vectors in the parts of the test. A vector has `bits` bits. The other
        arguments are those of `BitStream`.
        """
        super().__init__(
            Copy(bits), {"length": range_of("length", length)}, cases_of("test_lengths", "length", test_lengths), **rest
        )
