"""Associative recall: streams of lists of items with a query."""

from collections.abc import Sequence
from typing import Unpack

from zoo.arguments import Count
from zoo.data.bits.goals.associative_recall import AssociativeRecall
from zoo.data.bits.stream import BitArguments, BitStream
from zoo.data.streams import Range


class Recall(BitStream):
    """Lists of items; a query is an item, and its target is the next item."""

    name = "associative_recall"

    def __init__(
        self,
        *,
        items: Range = (2, 6),
        item_length: Count = 3,
        bits: Count = 6,
        test_items: Sequence[Count] = (6, 10, 12, 15, 20),
        **rest: Unpack[BitArguments],
    ) -> None:
        """`items` is the number of items, of `item_length` vectors of `bits` bits each; `test_items` are those of the
        test. The rest as in `BitStream`."""
        super().__init__(AssociativeRecall(bits, item_length), {"items": items}, {"items": test_items}, **rest)
        self.require(2, "2, since the target is the item after another")
