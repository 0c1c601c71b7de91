"""Stories with questions, before their words are numbered: what readers and generators give."""

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True)
class Line:
    """A line of a story in bAbI's format: a statement, or, if it has an answer, a question about earlier statements."""

    text: str
    """As written: `Mary moved to the bathroom.`, `Where is Mary?`."""
    answer: str | None = None
    """A word, or words with commas between them, `milk,football`."""
    supporting: tuple[int, ...] = ()
    """Numbers of the lines that the answer follows from, in the order of the reasoning. All lines are numbered, from
    1."""
    place: str = field(default="", compare=False)
    """File and line, for messages."""


@dataclass(frozen=True)
class Story:
    """The lines of one story, and the number of its bAbI task."""

    lines: tuple[Line, ...]
    task: int

    @property
    def asked(self) -> int:
        """The number of its questions."""
        return sum(line.answer is not None for line in self.lines)


class Shown(NamedTuple):
    """A question and its story in words as they are written, each in the position of its id."""

    sentences: list[list[str]]
    question: list[str]
