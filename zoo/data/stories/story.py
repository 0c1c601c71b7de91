"""One question about a story, before its words are numbered: what readers and generators give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Line:
    """A line of a story in bAbI's format: a statement, or, where it has an answer, a question about those before it."""

    text: str
    """As written: `Mary moved to the bathroom.`, `Where is Mary?`."""
    answer: str | None = None
    """A word, or words with commas between them, `milk,football`."""
    supporting: tuple[int, ...] = ()
    """Numbers of the lines, from 1, questions counted, that the answer follows from, in the order of the reasoning."""


@dataclass(frozen=True)
class Story:
    """The lines of one story, and the number of the bAbI task that it is of."""

    lines: tuple[Line, ...]
    task: int


class Shown(NamedTuple):
    """A question and its story as words, each as it was written and in the place of its id."""

    sentences: list[list[str]]
    question: list[str]
