"""Polygons, triangles and tours, exactly: which way three points turn is decided without rounding.

Notation: m vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
ROUNDING = 4e-16
"""A difference of two products in float64 has the right sign where it is larger than this share of their sum: the bound
of Shewchuk 1997, (3 + 16 eps) eps, is 3.4e-16."""


def orientation(a: Reals, b: Reals, c: Reals) -> NDArray[np.int64]:
    """Which way the path a, b, c turns, points (..., 2) each: 1 to the left, -1 to the right, 0 not at all (...)."""
    a, b, c = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (a, b, c)))
    left = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1])
    right = (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    turns = np.array(np.sign(left - right), np.int64)
    unsure = np.abs(left - right) <= ROUNDING * (np.abs(left) + np.abs(right))
    for at in map(tuple, np.argwhere(unsure)):
        (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(value)) for value in part[at]] for part in (a, b, c))
        turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        turns[at] = (turn > 0) - (turn < 0)
    return turns


def area(polygon: Reals) -> float:
    """The area that a simple polygon (m, 2) encloses, negative where it goes round clockwise."""
    x, y = (polygon - polygon[0]).T if len(polygon) else np.zeros((2, 0))
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def is_simple(polygon: Reals) -> bool:
    """Whether the edges of a polygon (m, 2) meet nowhere but at the vertex that neighbours share; fewer than three
    vertices make none, and no vertex comes twice."""
    count = len(polygon)
    if count < 3 or len(np.unique(polygon, axis=0)) < count:
        return False
    after = np.roll(polygon, -1, 0)
    beyond = np.roll(polygon, -2, 0)
    back = ((polygon - after) * (beyond - after)).sum(1) > 0
    if (back & (orientation(polygon, after, beyond) == 0)).any():
        return False
    first, second = np.triu_indices(count, 2)
    apart = second - first < count - 1  # the last edge and the first are neighbours
    first, second = first[apart], second[apart]
    return not _meet(polygon[first], after[first], polygon[second], after[second]).any()


def _meet(a: Reals, b: Reals, c: Reals, d: Reals) -> NDArray[np.bool_]:
    """Whether the segments from a to b and from c to d, (..., 2) each, have a point in common (...)."""
    sides = [orientation(*three) for three in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))]
    across = (sides[0] * sides[1] <= 0) & (sides[2] * sides[3] <= 0)
    in_line = np.all([side == 0 for side in sides], 0)
    beside = (np.maximum(a, b) < np.minimum(c, d)) | (np.maximum(c, d) < np.minimum(a, b))
    return np.where(in_line, ~beside.any(-1), across)


def same_polygon(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two sequences of vertices, none of them twice, are the same but for where they begin: the same way
    round."""
    if len(one) != len(other) or not one or one[0] not in other:
        return list(one) == list(other)
    begin = list(other).index(one[0])
    return list(one) == [*other[begin:], *other[:begin]]


def same_tour(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two round trips are the same, wherever they begin and whichever way they go."""
    return same_polygon(one, other) or same_polygon(one, list(other)[::-1])


def length(tour: Reals) -> float:
    """How long the way is through all points (m, W) and back to the first."""
    return float(np.linalg.norm(tour - np.roll(tour, -1, 0), axis=1).sum())


def triangles(corners: Sequence[int]) -> frozenset[frozenset[int]]:
    """The corners of each triangle, three by three; what is no triangle, an incomplete one or one with a corner twice,
    stays in it as fewer corners."""
    return frozenset(frozenset(corners[at : at + 3]) for at in range(0, len(corners), 3))
