"""The embedded sample: lines of generated handwriting, with the letter that each point belongs to.

The pen moves by steps of equal length along each stroke, so that letters have unequal numbers of points: a straight
line from the first letter to the last finds the letter of about every second point. Slant, size, spacing and the
tremor of the hand are drawn once for a line, and are the same in all of it. A blank has no points of its own: the
jump over it belongs to the letter after it.
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

STEP = 0.3  # Length of a step of the pen, in heights of an x
WORDS = (1, 3)  # Fewest and most words of a line
LETTERS = (2, 7)  # Fewest and most letters of a word
BLANK = 0.8  # The width of a blank
SLANT = 0.18  # Standard deviation of the slant: x grows by so much of y
SIZE = 0.12  # Standard deviation of the logarithm of the size
SPACING = (0.2, 0.6)  # Least and most room between letters
TREMOR = (0.005, 0.03)  # Least and most standard deviation of a point from its place

Points = NDArray[np.float64]


class WrittenText(NamedTuple):
    """A generated line."""

    text: str
    strokes: list[Points]  # (n, 2) each
    letters: list[int]  # The position in the text of the letter of each point


@cache
def glyphs() -> dict[str, list[Points]]:
    """The strokes of each letter, in steps of equal length."""
    found = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {letter: [_stroke(one) for one in strokes] for letter, strokes in found.items()}


def generate(count: int, *, seed: int) -> Iterator[WrittenText]:
    """`count` lines of random words. Line i depends only on `seed` and on i."""
    for number in range(count):
        yield written(np.random.default_rng((seed, number)))


def written(draw: np.random.Generator, text: str | None = None) -> WrittenText:
    """A line in a random hand, of a random text if none is given."""
    letters = list(glyphs())
    if text is None:
        lengths = draw.integers(LETTERS[0], LETTERS[1] + 1, draw.integers(WORDS[0], WORDS[1] + 1))
        text = " ".join("".join(draw.choice(letters, length)) for length in lengths)
    slant, size = draw.normal(0, SLANT), np.exp(draw.normal(0, SIZE))
    spacing, tremor = draw.uniform(*SPACING), draw.uniform(*TREMOR)
    strokes, owners, place = list[Points](), list[int](), 0.0
    for position, letter in enumerate(text):
        if letter == " ":
            place += BLANK
            continue
        for stroke in glyphs()[letter]:
            points = stroke + draw.normal(0, tremor, stroke.shape)
            x, y = points[:, 0] + place, points[:, 1]
            strokes.append(size * np.stack([x + slant * y, y], 1))
            owners += [position] * len(points)
        place += max(stroke[:, 0].max() for stroke in glyphs()[letter]) + spacing
    return WrittenText(text, strokes, owners)


def _stroke(given: str) -> Points:
    """Points at equal distances along a stroke, at least two."""
    straight, given = given.startswith("straight "), given.removeprefix("straight ")
    control = np.array([[float(number) for number in point.split()] for point in given.split(", ")])
    curve = control if straight else _smooth(control)
    along = np.concatenate([[0.0], np.hypot(*np.diff(curve, axis=0).T).cumsum()])
    places = np.linspace(0, along[-1], max(2, 1 + round(along[-1] / STEP)))
    return np.stack([np.interp(places, along, axis) for axis in curve.T], 1)


def _smooth(control: Points) -> Points:
    """A Catmull-Rom spline through control points (n, 2)."""
    ends = np.concatenate([control[:1], control, control[-1:]])
    t = np.linspace(0, 1, 20)[:, None]
    parts = []
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:], strict=False):
        parts.append(b + t * (c - a) / 2 + t**2 * (2 * a - 5 * b + 4 * c - d) / 2 + t**3 * (3 * b - a - 3 * c + d) / 2)
    return np.concatenate(parts)
