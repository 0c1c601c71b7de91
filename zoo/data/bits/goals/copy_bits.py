"""Copy: vectors of bits are read, then a delimiter, and the vectors are written in order (Graves et al. 2014, 4.1)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zoo.data.bits.goal import BitSequence, Reals, VectorGoal, vectors_text


@dataclass(frozen=True)
class Copy(VectorGoal):
    """Channels: the bits of a vector, and one for the delimiter. A sequence of L vectors takes 2L + 1 steps."""

    marks: ClassVar[int] = 1
    form: ClassVar[str] = "vectors of {bits} bits separated by blanks"

    def steps(self, length: int) -> int:
        return 2 * length + 1

    def draw(self, draw: np.random.Generator, length: int) -> BitSequence:
        return self.sequence(self.random(draw, length))

    def sequence(self, vectors: Reals) -> BitSequence:
        """The sequence whose target is a copy of the vectors (L, bits)."""
        read = self.blank(len(vectors) + 1)
        read[:-1, : self.bits] = vectors
        read[-1, self.bits] = 1
        return self.answered(read, vectors)

    def parse(self, line: str) -> BitSequence:
        return self.sequence(self.vectors(line.split()))

    def typed(self, sequence: BitSequence) -> str:
        inputs = sequence.inputs
        return vectors_text(inputs[: int(inputs[:, self.bits].argmax()), : self.bits])
