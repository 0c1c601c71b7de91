"""Decides whether a caption is true of a scene, and finds the objects that it names and their cells in a grid."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zoo.data.images.samples.grammar import NAMED, Kind, read, relation

HALF = 0.5
"""Share of a cell by which a box is widened on each side, so that an object that covers no centre of a cell has a cell.

A network sees more around a centre than the cell.
"""


def is_true(caption: Sequence[str] | str, facts: Mapping[str, Any]) -> bool:
    """Whether the scene has the two objects of the caption, a text or its words, in the relation that it states.

    A sentence outside the grammar is false.

    `facts` are plain data, as `zoo.data.images.samples.scenes` gives them: `objects`, each with `size`, `colour`,
    `shape` and `centre`, (x, y) with y growing downwards.
    """
    text = caption if isinstance(caption, str) else " ".join(caption)
    said = read(" ".join(text.lower().split()).removesuffix(".").rstrip())
    if said is None:
        return False
    return any(
        _is(said.first, one) and _is(said.second, other) and relation(one["centre"], other["centre"]) == said.relation
        for one, other in permutations(facts["objects"], 2)
    )


def named_words(caption: str, facts: Mapping[str, Any]) -> Iterator[tuple[int, int, tuple[float, ...]]]:
    """The begin, the end and the box of each word that names an object of the scene.

    `facts` are those of `is_true`, each object with its `box`: left, top, right and bottom in shares of the picture.
    """
    for phrase in NAMED.finditer(caption.lower()):
        for thing in facts["objects"]:
            if _is(Kind(*phrase.groups()), thing):
                spans = (span for span in map(phrase.span, (1, 2, 3)) if span[0] >= 0)
                yield from ((*span, tuple(thing["box"])) for span in spans)


def boxes_named(words: Sequence[str], facts: Mapping[str, Any]) -> list[tuple[float, ...] | None]:
    """For each word of a caption, the box of the object that its phrase names; None for all other words."""
    ends = list(accumulate(len(word) + 1 for word in words))
    found: list[tuple[float, ...] | None] = [None] * len(words)
    for begin, _, box in named_words(" ".join(words), facts):
        found[bisect_right(ends, begin)] = box
    return found


def _is(kind: Kind, thing: Mapping[str, Any]) -> bool:
    attributes = kind.size in (None, thing["size"]), kind.colour == thing["colour"], kind.shape == thing["shape"]
    return all(attributes)


def cells(boxes: ArrayLike, grid: Sequence[int]) -> NDArray[np.bool_]:
    """Mask (N, S) of the cells whose centre lies in a box (N, 4) that is widened by half a cell on each side.

    `grid` is (rows, columns), in row-major order; boxes are in shares of the picture: left, top, right, bottom.
    """
    left, top, right, bottom = np.asarray(boxes, np.float64).reshape(-1, 4).T[..., None]  # (N, 1)
    rows, columns = grid
    y, x = np.arange(rows) + 0.5, np.arange(columns) + 0.5  # centres, in units of a cell
    down = (top * rows - HALF <= y) & (y <= bottom * rows + HALF)
    along = (left * columns - HALF <= x) & (x <= right * columns + HALF)
    return (down[:, :, None] & along[:, None, :]).reshape(len(down), rows * columns)


def alignment(
    shape: tuple[int, int], rows: ArrayLike, positions: ArrayLike, boxes: ArrayLike, grid: Sequence[int]
) -> NDArray[np.bool_]:
    """Mask (B, T, S) for captions of `shape` (B, T): the cells of the box (N, 4) of each of N named words.

    `rows` and `positions` locate the words; two boxes of one token (a subword of two words) are united.
    """
    found = np.zeros((*shape, grid[0] * grid[1]), np.bool_)
    np.logical_or.at(found, (np.asarray(rows, int), np.asarray(positions, int)), cells(boxes, grid))
    return found
