"""Priority sort: streams of vectors with priorities."""

from collections.abc import Sequence
from typing import Unpack

from zoo.arguments import Count
from zoo.data.bits.goals.priority_sort import PrioritySort
from zoo.data.bits.stream import BitArguments, BitStream
from zoo.data.streams import Range


class PrioritySorts(BitStream):
    """Vectors that are sorted by their priorities."""

    name = "priority_sort"

    def __init__(
        self,
        *,
        vectors: Range = 20,
        highest: Count = 16,
        bits: Count = 8,
        test_vectors: Sequence[Count] = (20,),
        **rest: Unpack[BitArguments],
    ) -> None:
        """`vectors` is the number of vectors, of `bits` bits each, and `test_vectors` those of the test. The `highest`
        are written. The rest as in `BitStream`."""
        super().__init__(PrioritySort(bits, highest), {"vectors": vectors}, {"vectors": test_vectors}, **rest)
        self.require(highest, f"data.highest={highest}, which are written")
