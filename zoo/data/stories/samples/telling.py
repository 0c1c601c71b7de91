"""How a story is told: its lines in order, each with its number, and which of them was said of whom."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

from zoo.data.stories.story import Line

T = TypeVar("T")

RECENT = 5
"""A question is about something that one of the last five facts said; the official stories hold to it throughout."""


class Telling:
    """A story while it is told. `draw` is where all its chances come from."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.lines: list[Line] = []

    def say(self, text: str) -> int:
        """Adds a statement. Returns the number of its line."""
        self.lines.append(Line(text))
        return len(self.lines)

    def ask(self, text: str, answer: str, supporting: Iterable[int]) -> None:
        """Adds a question with its answer and the numbers of the lines that the answer follows from."""
        self.lines.append(Line(text, answer, tuple(supporting)))

    def pick(self, of: Sequence[T]) -> T:
        """One of them, each as likely as the others."""
        return self.draw.choice(of)

    def some(self, of: Sequence[T], count: int) -> list[T]:
        """`count` different ones in any order."""
        return self.draw.sample(of, count)

    def recent(self, facts: Sequence[T]) -> list[T]:
        """The last `RECENT` facts in any order: what a question may be about."""
        return self.some(facts[-RECENT:], min(RECENT, len(facts)))
