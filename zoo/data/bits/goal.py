"""What is asked of a network that reads bits step by step: how a sequence is drawn, laid out and typed."""

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
"""How large a sequence is, in the units of its goal, such as vectors and repeats."""


class BitSequence(NamedTuple):
    """One sequence of T steps, as a network reads it."""

    inputs: Reals
    """(T, I)"""
    targets: Reals
    """(T, O) 0 and 1; 0 at the steps that are not scored."""
    scored: NDArray[np.bool_]
    """(T,) True at the steps at which bits are to be written."""
    group: int = 0
    """Which part of the test it is of."""
    optimal_bits: float | None = None
    """What the bits to be written cost the best predictor there can be; None where that is nothing."""


class Goal(ABC):
    """A frozen dataclass of plain values: it travels in every checkpoint. Its fields are what decides the layout."""

    separator: ClassVar[str] = " "
    """What stands between the vectors of a line."""

    @property
    @abstractmethod
    def form(self) -> str:
        """How a sequence is typed, in words, for messages."""

    @property
    @abstractmethod
    def in_width(self) -> int:
        """I, the channels that are read at a step."""

    @property
    @abstractmethod
    def out_width(self) -> int:
        """O, the bits that are written at a step."""

    @abstractmethod
    def steps(self, sizes: Sizes) -> int:
        """T of a sequence of these sizes."""

    @abstractmethod
    def draw(self, sizes: Sizes, draw: np.random.Generator) -> BitSequence:
        """A sequence of these sizes."""

    @abstractmethod
    def parse(self, line: str) -> BitSequence:
        """The sequence that a person typed, with what it asks for. Raises DataError for anything else."""

    @abstractmethod
    def typed(self, sequence: BitSequence) -> str:
        """The line that `parse` makes this sequence of, though its targets may be missing."""

    def vector(self, bits: NDArray[Any]) -> str:
        """What is written at a step (O,), as a word."""
        return vectors_text(bits[None])

    def written(self, rows: NDArray[Any]) -> str:
        """What is written at several steps (S, O), as a line."""
        return self.separator.join(map(self.vector, rows))


def vectors_text(rows: NDArray[Any]) -> str:
    """Rows of bits (S, O) as `0110 1011`."""
    return " ".join("".join("1" if bit else "0" for bit in row) for row in rows)


def vectors_of(words: Sequence[str], bits: int, *, first: int = 1) -> Reals:
    """(L, bits) from words of so many bits, of which the first is vector number `first`. Raises DataError."""
    for number, word in enumerate(words, first):
        if not re.fullmatch(f"[01]{{{bits}}}", word):
            wrong = next((letter for letter in word if letter not in "01"), None)
            found = f"{wrong!r} in it" if wrong else f"{len(word)} bits"
            raise DataError(f"vector {number} is {word!r}: expected {bits} bits, each 0 or 1, found {found}")
    return np.array([[letter == "1" for letter in word] for word in words], np.float32).reshape(len(words), bits)


def random_bits(draw: np.random.Generator, rows: int, bits: int) -> Reals:
    """(rows, bits), each 0 or 1 with the same chance."""
    return draw.integers(0, 2, (rows, bits), np.int8).astype(np.float32)


def answered_at_the_end(inputs: Reals, answer: Reals) -> BitSequence:
    """A sequence that is read in whole (R, I), and then, while nothing is read, answered (S, O)."""
    read, asked = len(inputs), len(answer)
    longer = np.zeros((read + asked, inputs.shape[1]), np.float32)
    longer[:read] = inputs
    targets = np.zeros((read + asked, answer.shape[1]), np.float32)
    targets[read:] = answer
    return BitSequence(longer, targets, np.arange(read + asked) >= read)
