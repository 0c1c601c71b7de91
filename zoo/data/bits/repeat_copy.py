"""Repeat copy: streams of vectors with a number of repeats."""

from collections.abc import Sequence
from typing import Unpack

from zoo.arguments import Count
from zoo.data.bits.goals.repeat_copy import RepeatCopy
from zoo.data.bits.stream import BitArguments, BitStream
from zoo.data.streams import Range, range_of


class RepeatCopies(BitStream):
    """Sequences that are copied several times."""

    name = "repeat_copy"

    def __init__(
        self,
        *,
        length: Range = (1, 10),
        repeats: Range = (1, 10),
        bits: Count = 8,
        test_lengths: Sequence[Count] = (10, 20),
        test_repeats: Sequence[Count] = (20,),
        **rest: Unpack[BitArguments],
    ) -> None:
        """`length` is the number of vectors, of `bits` bits each, and `repeats` how often they are written. The test
        has sequences of `test_lengths` vectors with the most repeats of training, and of the most vectors of training
        with `test_repeats` repeats. The rest as in `BitStream`."""
        goal = RepeatCopy(bits, range_of("repeats", repeats))
        tested = {"length": test_lengths, "repeats": test_repeats}
        super().__init__(goal, {"length": length, "repeats": repeats}, tested, **rest)
