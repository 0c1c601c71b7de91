"""Repeat copy: vectors of bits and a number n are read, and the vectors are written n times (Graves et al. 2014,
4.2)."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zoo.data.bits.goal import BitSequence, Reals, VectorGoal, vectors_text
from zoo.errors import DataError

END = "end"


@dataclass(frozen=True)
class RepeatCopy(VectorGoal):
    """Input channels: the bits of a vector, one for the delimiter, and one for the number of repeats.

    That number is standardised to mean 0 and variance 1 over training. The output has one channel more than a vector; a
    1 on it marks the end, at a separate step. L vectors, R times, take L + 2 + L R + 1 steps.
    """

    marks: ClassVar[int] = 2
    form: ClassVar[str] = "vectors of {bits} bits and the number of repeats, such as x3, separated by blanks"
    repeats: tuple[int, int]  # The fewest and the most repeats in training

    @property
    def out_width(self) -> int:  # type: ignore[override]
        return self.bits + 1

    @property
    def _moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the number of repeats; the deviation of a single number is taken as 1."""
        fewest, most = self.repeats
        return (fewest + most) / 2, float(np.sqrt(((most - fewest + 1) ** 2 - 1) / 12)) or 1.0

    def steps(self, length: int, repeats: int) -> int:
        return length + 2 + length * repeats + 1

    def draw(self, draw: np.random.Generator, length: int, repeats: int) -> BitSequence:
        return self.sequence(self.random(draw, length), repeats)

    def sequence(self, vectors: Reals, repeats: int) -> BitSequence:
        """The sequence whose target is the vectors (L, bits), `repeats` times."""
        mean, deviation = self._moments
        read = self.blank(len(vectors) + 2)
        read[:-2, : self.bits] = vectors
        read[-2, self.bits] = 1
        read[-1, self.bits + 1] = (repeats - mean) / deviation
        answer = np.zeros((len(vectors) * repeats + 1, self.out_width), np.float32)
        answer[:-1, : self.bits] = np.tile(vectors, (repeats, 1))
        answer[-1, self.bits] = 1
        return self.answered(read, answer)

    def parse(self, line: str) -> BitSequence:
        *words, last = line.split()
        if not (count := re.fullmatch(r"x(\d{1,4})", last)) or not int(count[1]) or not words:
            raise DataError(f"expected vectors and then the number of repeats, such as x3, found {last!r} at the end")
        return self.sequence(self.vectors(words), int(count[1]))

    def typed(self, sequence: BitSequence) -> str:
        inputs = sequence.inputs
        mean, deviation = self._moments
        length = int(inputs[:, self.bits].argmax())
        repeats = round(float(inputs[length + 1, self.bits + 1]) * deviation + mean)
        return f"{vectors_text(inputs[:length, : self.bits])} x{repeats}"

    def vector(self, bits: NDArray[Any]) -> str:
        """The bits as a word, followed by `end` if the end is marked; `end` alone if the bits are all 0."""
        *first, end = bits.tolist()
        return END if end and not any(first) else super().vector(bits[:-1]) + END * bool(end)
