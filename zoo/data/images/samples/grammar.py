"""The words and sentences of the scenes: writes and parses captions of two objects and their relation."""

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
"""The position of the first object, in words before the second, and of the second object, in words after it."""
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
"""Matches the words that name one object; its groups are size (optional), colour and shape."""


class Kind(NamedTuple):
    """The description of an object."""

    size: str | None  # None if the caption does not mention the size
    colour: str
    shape: str

    @property
    def words(self) -> list[str]:
        """The words that name the object."""
        return [word for word in self if word]


class Statement(NamedTuple):
    """The content of a caption."""

    first: Kind
    relation: str  # A key of RELATIONS: the position of the first object relative to the second
    second: Kind


def phrased(form: str, statement: Statement) -> str:
    """Express a statement by one of FORMS."""
    of, around = RELATIONS[statement.relation]
    first, second = (
        f"{'an' if kind.words[0][0] in 'aeiou' else 'a'} {' '.join(kind.words)}"
        for kind in (statement.first, statement.second)
    )
    return form.format(first=first, second=second, of=of, around=around)


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for relation, (of, around) in RELATIONS.items():
        for form in FORMS:
            yield relation, re.compile(form.format(first=OBJECT, second=OBJECT, of=of, around=around))


PATTERNS = tuple(_patterns())


def read(caption: str) -> Statement | None:
    """Parse a caption of any of FORMS; None if it has another form."""
    for relation, pattern in PATTERNS:
        if found := pattern.fullmatch(caption):
            parts = found.groups()
            return Statement(Kind(*parts[:3]), relation, Kind(*parts[3:]))
    return None


def relation(one: Sequence[float], other: Sequence[float]) -> str:
    """Position of a point (x, y) relative to another along the axis of the larger difference.

    It is `left`, `right`, `above` or `below`.
    """
    right, down = one[0] - other[0], one[1] - other[1]
    if abs(right) > abs(down):
        return "right" if right > 0 else "left"
    return "below" if down > 0 else "above"
