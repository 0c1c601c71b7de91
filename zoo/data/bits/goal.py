"""Goals of networks that read bits step by step: how a sequence is drawn, laid out and typed."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.errors import DataError

Reals = NDArray[np.float32]
Sizes = tuple[int, ...]
"""Sizes of a sequence, in the units of its goal, such as vectors and repeats."""


class BitSequence(NamedTuple):
    """One sequence of T steps, in the form that a network reads."""

    inputs: Reals
    """(T, I)"""
    targets: Reals
    """(T, O) 0 and 1; 0 at steps that are not scored."""
    scored: NDArray[np.bool_]
    """(T,) True at the steps whose bits are scored."""
    group: int = 0
    """Number of its part of the test."""
    optimal_bits: float | None = None
    """Cost of the targets for the optimal predictor, in bits; None if it is 0."""


class Goal(ABC):
    """A frozen dataclass of plain values, which every checkpoint contains. Its fields determine the layout."""

    separator: ClassVar[str] = " "  # Text between the vectors of a line
    form: ClassVar[str]  # Description of a typed sequence, for messages, with fields in braces
    in_width: int  # I, the input channels of a step
    out_width: int  # O, the output bits of a step

    @abstractmethod
    def steps(self, *sizes: Any, **named: Any) -> int:
        """T, the number of steps of a sequence of these sizes."""

    @abstractmethod
    def draw(self, draw: np.random.Generator, *sizes: Any, **named: Any) -> BitSequence:
        """Draw a sequence of these sizes."""

    @abstractmethod
    def parse(self, line: str) -> BitSequence:
        """Parse a typed sequence, and add its targets. Raises DataError for any other text."""

    @abstractmethod
    def typed(self, sequence: BitSequence) -> str:
        """The line from which `parse` makes this sequence; its targets may be missing."""

    def vector(self, bits: NDArray[Any]) -> str:
        """The output of a step (O,) as a word."""
        return vectors_text(bits[None])

    def written(self, rows: NDArray[Any]) -> str:
        """The output of several steps (S, O) as a line."""
        return self.separator.join(map(self.vector, rows))


@dataclass(frozen=True)
class VectorGoal(Goal):
    """A goal that reads vectors of `bits` bits, and then writes vectors at steps without input."""

    marks: ClassVar[int]  # Input channels after those of the bits, such as delimiters
    bits: int

    @property
    def in_width(self) -> int:  # type: ignore[override]
        return self.bits + self.marks

    @property
    def out_width(self) -> int:  # type: ignore[override]
        return self.bits

    def random(self, draw: np.random.Generator, rows: int) -> Reals:
        """Uniform random bits (rows, bits)."""
        return draw.integers(0, 2, (rows, self.bits), np.int8).astype(np.float32)

    def vectors(self, words: Sequence[str]) -> Reals:
        """Vectors (L, bits) from words of bits. Raises DataError."""
        return vectors_of(words, self.bits)

    def blank(self, steps: int) -> Reals:
        """Inputs (steps, I) of 0."""
        return np.zeros((steps, self.in_width), np.float32)

    def answered(self, inputs: Reals, answer: Reals) -> BitSequence:
        """The inputs (R, I), followed by steps without input whose targets are (S, O)."""
        scored = np.arange(len(inputs) + len(answer)) >= len(inputs)
        targets = np.zeros((len(scored), self.out_width), np.float32)
        targets[scored] = answer
        return BitSequence(np.concatenate([inputs, self.blank(len(answer))]), targets, scored)


def vectors_text(rows: NDArray[Any]) -> str:
    """Rows of bits (S, O) as `0110 1011`."""
    return " ".join("".join("1" if bit else "0" for bit in row) for row in rows)


def vectors_of(words: Sequence[str], bits: int) -> Reals:
    """Vectors (L, bits) from words of bits. Raises DataError."""
    for number, word in enumerate(words, 1):
        if not re.fullmatch(f"[01]{{{bits}}}", word):
            wrong = next((letter for letter in word if letter not in "01"), None)
            found = f"{wrong!r} in it" if wrong else f"{len(word)} bits"
            raise DataError(f"vector {number} is {word!r}: expected {bits} bits, each 0 or 1, found {found}")
    return np.array([[letter == "1" for letter in word] for word in words], np.float32).reshape(len(words), bits)
