"""From the strokes of a line to offsets and back, and the check of strokes that a user gives."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.errors import DataError

Points = NDArray[np.float64]
FORM = "a list of strokes, each a list of points [x,y]"


class StrokeRow(NamedTuple):
    """A line of a source."""

    name: str
    strokes: Sequence[Points]  # (n, 2) each; y grows upwards
    text: str | None
    place: str  # File and line, for messages
    letters: Sequence[int] | None = None  # The position in the text of the letter of each point, if it is known


class UnusableStrokes(DataError):
    """Strokes that cannot be used: a `problem`, and in `detail` what was found and expected."""

    def __init__(self, problem: str, detail: str) -> None:
        super().__init__(f"{problem}: {detail}")
        self.problem, self.detail = problem, detail


def strokes_of(given: Any) -> list[Points]:
    """The strokes of a line, from lists of points [x,y] whose y grows downwards, as on screens. Raises UnusableStrokes
    for anything else."""
    if not isinstance(given, list) or not given:
        raise UnusableStrokes("no strokes", f"found {str(given)[:40]!r}, expected {FORM}")
    found = []
    for number, one in enumerate(given, 1):
        try:
            points = np.array(one, np.float64)
        except (ValueError, TypeError):
            points = np.zeros(0)
        if points.ndim != 2 or points.shape[1] != 2 or not len(points):
            raise UnusableStrokes(f"stroke {number}", f"found {str(one)[:40]!r}, expected a list of points [x,y]")
        if not np.isfinite(points).all():
            raise UnusableStrokes(f"stroke {number}", "a number is not finite")
        found.append(points * [1, -1])
    return found


def as_lists(strokes: Sequence[Points]) -> list[list[list[float]]]:
    """The inverse of `strokes_of`, for files: y grows downwards."""
    return [np.round(stroke * [1, -1], 3).tolist() for stroke in strokes]


def to_offsets(strokes: Sequence[Points]) -> NDArray[np.float32]:
    """(T, 3) the offset (x, y) of each point from the one before, and 1 at the last point of a stroke. The first point
    of a line is its origin and has no offset; where it is a stroke of its own, it is drawn as two equal points.

    Raises UnusableStrokes for a line of a single point.
    """
    if sum(map(len, strokes)) < 2:
        raise UnusableStrokes("a single point", "a line needs two points or more, because only offsets are read")
    first = [np.repeat(strokes[0], 2, 0)] if len(strokes[0]) == 1 else [strokes[0]]
    every = [*first, *strokes[1:]]
    points = np.concatenate(every)
    ends = np.zeros(len(points))
    ends[np.cumsum([len(stroke) for stroke in every]) - 1] = 1
    return np.column_stack([np.diff(points, axis=0), ends[1:]]).astype(np.float32)


def to_strokes(offsets: NDArray[Any]) -> list[Points]:
    """The strokes of offsets (T, 3), from the origin on."""
    points = np.concatenate([np.zeros((1, 2)), offsets[:, :2].astype(np.float64).cumsum(0)])
    ends = np.flatnonzero(offsets[:, 2] > 0.5) + 2
    return [stroke for stroke in np.split(points, ends) if len(stroke)]


def of_points(letters: Sequence[int], strokes: Sequence[Points]) -> list[int]:
    """The letter of each offset of `to_offsets`, from that of each point. Raises UnusableStrokes for another number."""
    points = sum(map(len, strokes))
    if len(letters) != points:
        raise UnusableStrokes("letters", f"found {len(letters)} positions of letters, expected one per point, {points}")
    found = [letters[0], *letters] if len(strokes[0]) == 1 else list(letters)
    return found[1:]


def plain(text: str) -> str:
    """A text with single blanks between words, in composed letters, as it is written."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def key_of(offsets: NDArray[np.float32], text: str | None) -> int:
    """A number that is equal for equal lines."""
    digest = blake2b(offsets.tobytes() + (text or "").encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
