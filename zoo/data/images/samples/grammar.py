"""The words and the sentences of the scenes: how two objects and where they stand are told, and read again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SHAPES = ("circle", "square", "triangle", "star")
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple")
SIZES = ("small", "large")

RELATIONS = {
    "left": ("left of", "to its right"),
    "right": ("right of", "to its left"),
    "above": ("above", "below it"),
    "below": ("below", "above it"),
}
"""Where the first object stands, in words before the second one, and where the second one does, in words behind it."""
FORMS = (
    "{first} is {of} {second}",
    "{first} {of} {second}",
    "there is {first} {of} {second}",
    "the picture shows {first} {of} {second}",
    "{first} with {second} {around}",
    "there is {first} and {second} {around}",
)
OBJECT = rf"an? (?:({'|'.join(SIZES)}) )?({'|'.join(COLOURS)}) ({'|'.join(SHAPES)})"
NAMED = re.compile(rf"\b{OBJECT}\b")
"""The words that name one object: its size, where that is said, its colour and its shape are the groups."""
PIECES = {form: re.split(r"\{(\w+)\}", form) for form in FORMS}
"""Of each form the words between its slots and, by turns, the names of these."""


class Kind(NamedTuple):
    """What is said of an object."""

    size: str | None
    """None where nothing is said of it."""
    colour: str
    shape: str

    @property
    def words(self) -> list[str]:
        """Those that name it."""
        return [word for word in self if word]


class Statement(NamedTuple):
    """What a caption says."""

    first: Kind
    relation: str
    """A key of RELATIONS: where the first stands, seen from the second."""
    second: Kind


class Telling(NamedTuple):
    """A caption, and where it names the two objects."""

    text: str
    first: list[tuple[int, int]]
    """Where each word that names the first begins and ends."""
    second: list[tuple[int, int]]


def told(form: str, statement: Statement) -> Telling:
    """The sentence that one of FORMS makes of a statement."""
    of, around = RELATIONS[statement.relation]
    text, named = "", {"first": list[tuple[int, int]](), "second": list[tuple[int, int]]()}
    for number, piece in enumerate(PIECES[form]):
        if number % 2 == 0:
            text += piece
        elif piece not in named:
            text += of if piece == "of" else around
        else:
            words = getattr(statement, piece).words
            text += "an" if words[0][0] in "aeiou" else "a"
            for word in words:
                named[piece].append((len(text) + 1, len(text) + 1 + len(word)))
                text += f" {word}"
    return Telling(text, **named)


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for relation, (of, around) in RELATIONS.items():
        for form in FORMS:
            yield relation, re.compile(form.format(first=OBJECT, second=OBJECT, of=of, around=around))


PATTERNS = tuple(_patterns())


def read(caption: str) -> Statement | None:
    """What a caption says, in any of FORMS; None where it is no sentence of them."""
    for relation, pattern in PATTERNS:
        if found := pattern.fullmatch(caption):
            parts = found.groups()
            return Statement(Kind(*parts[:3]), relation, Kind(*parts[3:]))
    return None


def relation(one: Sequence[float], other: Sequence[float]) -> str:
    """Where a point (x, y) lies, seen from another: `left`, `right`, `above` or `below`, the way it is farther off."""
    right, down = one[0] - other[0], one[1] - other[1]
    if abs(right) > abs(down):
        return "right" if right > 0 else "left"
    return "below" if down > 0 else "above"
