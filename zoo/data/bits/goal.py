"""Goals of networks that read bits step by step: how a sequence is drawn, laid out and typed."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
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

    separator: ClassVar[str] = " "
    """Text between the vectors of a line."""

    @property
    @abstractmethod
    def form(self) -> str:
        """Description of a typed sequence, for messages."""

    @property
    @abstractmethod
    def in_width(self) -> int:
        """I, the input channels of a step."""

    @property
    @abstractmethod
    def out_width(self) -> int:
        """O, the output bits of a step."""

    @abstractmethod
    def steps(self, sizes: Sizes) -> int:
        """T, the number of steps of a sequence of these sizes."""

    @abstractmethod
    def draw(self, sizes: Sizes, draw: np.random.Generator) -> BitSequence:
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


def vectors_text(rows: NDArray[Any]) -> str:
    """Rows of bits (S, O) as `0110 1011`."""
    return " ".join("".join("1" if bit else "0" for bit in row) for row in rows)


def vectors_of(words: Sequence[str], bits: int, *, first: int = 1) -> Reals:
    """Vectors (L, bits) from words of bits; `first` is the number of the first word in errors. Raises DataError."""
    for number, word in enumerate(words, first):
        if not re.fullmatch(f"[01]{{{bits}}}", word):
            wrong = next((letter for letter in word if letter not in "01"), None)
            found = f"{wrong!r} in it" if wrong else f"{len(word)} bits"
            raise DataError(f"vector {number} is {word!r}: expected {bits} bits, each 0 or 1, found {found}")
    return np.array([[letter == "1" for letter in word] for word in words], np.float32).reshape(len(words), bits)


def random_bits(draw: np.random.Generator, rows: int, bits: int) -> Reals:
    """Uniform random bits (rows, bits)."""
    return draw.integers(0, 2, (rows, bits), np.int8).astype(np.float32)


def answered_at_the_end(inputs: Reals, answer: Reals) -> BitSequence:
    """A sequence of inputs (R, I), followed by steps without input, whose targets are (S, O)."""
    read, asked = len(inputs), len(answer)
    longer = np.zeros((read + asked, inputs.shape[1]), np.float32)
    longer[:read] = inputs
    targets = np.zeros((read + asked, answer.shape[1]), np.float32)
    targets[read:] = answer
    return BitSequence(longer, targets, np.arange(read + asked) >= read)
