"""Priority sort: vectors of bits are read with priorities, and those with the highest are written in descending order
(Graves et al. 2014, 4.5)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zoo.data.bits.goal import BitSequence, Reals, VectorGoal, vectors_text
from zoo.errors import DataError


@dataclass(frozen=True)
class PrioritySort(VectorGoal):
    """Channels: the bits of a vector, one for its priority, and one for the delimiter after the last vector.

    n vectors take n + 1 + k steps; the k highest are written.
    """

    marks: ClassVar[int] = 2
    form: ClassVar[str] = (
        "vectors of {bits} bits, each with its priority from -1 to 1 after a colon, separated by blanks"
    )
    highest: int  # k; if fewer vectors are typed, all of them are written

    def steps(self, vectors: int) -> int:
        return vectors + 1 + min(vectors, self.highest)

    def draw(self, draw: np.random.Generator, vectors: int) -> BitSequence:
        return self.sequence(self.random(draw, vectors), draw.uniform(-1, 1, vectors).astype(np.float32))

    def sequence(self, vectors: Reals, priorities: Reals) -> BitSequence:
        """The sequence whose target is the vectors (n, bits) sorted by priority (n,); the sort is stable."""
        read = self.blank(len(vectors) + 1)
        read[:-1, : self.bits] = vectors
        read[:-1, self.bits] = priorities
        read[-1, self.bits + 1] = 1
        return self.answered(read, vectors[np.argsort(-priorities, kind="stable")[: self.highest]])

    def parse(self, line: str) -> BitSequence:
        pairs = [word.partition(":") for word in line.split()]
        vectors = self.vectors([vector for vector, _, _ in pairs])
        priorities = [_priority(text, number) for number, (_, _, text) in enumerate(pairs, 1)]
        return self.sequence(vectors, np.array(priorities, np.float32))

    def typed(self, sequence: BitSequence) -> str:
        inputs = sequence.inputs
        read = inputs[: int(inputs[:, self.bits + 1].argmax())]
        return " ".join(f"{vectors_text(row[None, : self.bits])}:{row[self.bits]:.4g}" for row in read)


def _priority(text: str, number: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not -1 <= value <= 1:
        raise DataError(
            f"the priority of vector {number}: expected a number from -1 to 1 after a colon, found {text!r}"
        )
    return value
