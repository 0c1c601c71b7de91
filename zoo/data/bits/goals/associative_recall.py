"""Associative recall: after a list of items one of them is read again, and the item after it is written (Graves et al.
2014, 4.3)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zoo.data.bits.goal import BitSequence, Reals, VectorGoal, vectors_text
from zoo.errors import DataError

ITEM, QUERY = "|", "?"


@dataclass(frozen=True)
class AssociativeRecall(VectorGoal):
    """Channels: the bits of a vector, one for the delimiter of items, and one for that on both sides of the query.

    n items of k vectors take n (k + 1) + (k + 2) + k steps.
    """

    marks: ClassVar[int] = 2
    form: ClassVar[str] = (
        "items of {item_length} vectors of {bits} bits each, the vectors separated by blanks and the items by "
        f"{ITEM}, and after a {QUERY} one of the items again"
    )
    item_length: int  # k, the vectors per item

    def steps(self, items: int) -> int:
        return items * (self.item_length + 1) + self.item_length + 2 + self.item_length

    def draw(self, draw: np.random.Generator, items: int) -> BitSequence:
        rows = self.random(draw, items * self.item_length).reshape(items, self.item_length, self.bits)
        return self.sequence(rows, int(draw.integers(items - 1)))

    def sequence(self, items: Reals, query: int) -> BitSequence:
        """The sequence of items (n, k, bits) whose target is the item after item `query`, counted from 0."""
        count, width = len(items), self.item_length + 1
        read = self.blank(count * width + self.item_length + 2)
        blocks = read[: count * width].reshape(count, width, self.in_width)
        blocks[:, 0, self.bits] = 1
        blocks[:, 1:, : self.bits] = items
        read[[count * width, -1], self.bits + 1] = 1
        read[count * width + 1 : -1, : self.bits] = items[query]
        return self.answered(read, items[query + 1])

    def parse(self, line: str) -> BitSequence:
        before, mark, after = line.partition(QUERY)
        if not mark:
            raise DataError(f"expected a {QUERY} before the item of the query, found none")
        items = np.stack([self._item(part, number) for number, part in enumerate(before.split(ITEM), 1)])
        (places,) = np.nonzero((items == self._item(after, None)).all((1, 2)))
        if len(places) != 1:
            found = f"{len(places)} times" if len(places) else "not there"
            raise DataError(f"{after.strip()!r} after the {QUERY}: expected one of the items, found it {found}")
        if places[0] == len(items) - 1:
            raise DataError(
                f"{after.strip()!r} after the {QUERY}: expected an item that another item follows, found the last"
            )
        return self.sequence(items, int(places[0]))

    def _item(self, text: str, number: int | None) -> Reals:
        name = "the item of the query" if number is None else f"item {number}"
        words = text.split()
        if len(words) != self.item_length:
            raise DataError(f"{name} is {text.strip()!r}: expected {self.item_length} vectors, found {len(words)}")
        try:
            return self.vectors(words)
        except DataError as error:
            raise DataError(f"{name}: {error}") from error

    def typed(self, sequence: BitSequence) -> str:
        inputs = sequence.inputs
        k, bits = self.item_length, self.bits
        starts = np.flatnonzero(inputs[:, bits])
        query = int(inputs[:, bits + 1].argmax())
        items = [vectors_text(inputs[start + 1 : start + 1 + k, :bits]) for start in starts]
        return f"{f' {ITEM} '.join(items)} {QUERY} {vectors_text(inputs[query + 1 : query + 1 + k, :bits])}"
