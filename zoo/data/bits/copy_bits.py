"""Copy: streams of vectors of bits that are to be copied."""

from collections.abc import Sequence
from typing import Unpack

from zoo.arguments import Count
from zoo.data.bits.goals.copy_bits import Copy
from zoo.data.bits.stream import BitArguments, BitStream
from zoo.data.streams import Range


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
        """`length` is the number of vectors, of `bits` bits each; `test_lengths` are those of the test. The rest as in
        `BitStream`."""
        super().__init__(Copy(bits), {"length": length}, {"length": test_lengths}, **rest)
