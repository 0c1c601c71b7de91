"""Decides whether a caption is true of a generated clip, and finds the frames of the event that a word is about."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zoo.data.clips.samples.moving_shapes import ACTIONS, FORMS, PAINT, SHAPES

EVENT = rf"the ({'|'.join(PAINT)}) ({'|'.join(SHAPES)}) ({'|'.join(ACTIONS)})"
NAMED = re.compile(rf"\b{EVENT}\b")
PATTERNS = tuple(re.compile(form.format(EVENT, EVENT)) for form in FORMS)


def is_true(caption: str, facts: Mapping[str, Any]) -> bool:
    """Whether a caption states the two events of a clip in their order. A sentence of another form is false."""
    text = " ".join(caption.lower().split()).removesuffix(".").rstrip()
    known = tuple(str(event[key]) for event in facts["events"] for key in ("colour", "shape", "action"))
    return any((found := pattern.fullmatch(text)) and found.groups() == known for pattern in PATTERNS)


def named_words(caption: str, facts: Mapping[str, Any]) -> Iterator[tuple[int, int, tuple[float, ...]]]:
    """The begin and the end of each word about an event of the clip, and the first and the last frame of the event."""
    for clause in NAMED.finditer(caption.lower()):
        for event in facts["events"]:
            if clause.groups() == (event["colour"], event["shape"], event["action"]):
                span = float(event["first"]), float(event["last"])
                yield from ((*clause.span(group), span) for group in (1, 2, 3))


def spans_named(words: Sequence[str], facts: Mapping[str, Any]) -> list[tuple[float, ...] | None]:
    """For each word of a caption, the first and the last frame of the event that it is about; None for other words."""
    ends = list(accumulate(len(word) + 1 for word in words))
    found: list[tuple[float, ...] | None] = [None] * len(words)
    for begin, _, span in named_words(" ".join(words), facts):
        found[bisect_right(ends, begin)] = span
    return found


def alignment(
    shape: tuple[int, int], rows: ArrayLike, positions: ArrayLike, spans: ArrayLike, frames: int
) -> NDArray[np.bool_]:
    """Mask (B, T, F) for captions of `shape` (B, T): the frames of the span (N, 2) of each of N words about an event.
    `rows` and `positions` locate the words."""
    found = np.zeros((*shape, frames), np.bool_)
    first, last = np.asarray(spans, np.float64).reshape(-1, 2).T
    at = np.arange(frames)
    inside = (first[:, None] <= at) & (at <= last[:, None])
    np.logical_or.at(found, (np.asarray(rows, int), np.asarray(positions, int)), inside)
    return found
