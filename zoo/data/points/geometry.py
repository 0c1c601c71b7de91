"""Polygons, triangles and tours. The orientation of three points is exact, without rounding.

Notation: m vertices.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
ROUNDING = 4e-16
"""A difference of two products in float64 has the right sign if it is larger than this share of their sum. The bound of
Shewchuk 1997, (3 + 16 eps) eps, is 3.4e-16."""


def orientation(a: Reals, b: Reals, c: Reals) -> NDArray[np.int64]:
    """The turn of the path a, b, c, points (..., 2) each: 1 left, -1 right, 0 straight (...)."""
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
    """The area of a simple polygon (m, 2), negative if its vertices are in clockwise order."""
    x, y = (polygon - polygon[0]).T if len(polygon) else np.zeros((2, 0))
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def is_simple(polygon: Reals) -> bool:
    """Whether a polygon (m, 2) has at least three vertices, none of them repeated, and edges that meet only at the
    vertices of neighbours."""
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
    """Whether the segments from a to b and from c to d, (..., 2) each, have a common point (...)."""
    sides = [orientation(*three) for three in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))]
    across = (sides[0] * sides[1] <= 0) & (sides[2] * sides[3] <= 0)
    in_line = np.all([side == 0 for side in sides], 0)
    beside = (np.maximum(a, b) < np.minimum(c, d)) | (np.maximum(c, d) < np.minimum(a, b))
    return np.where(in_line, ~beside.any(-1), across)


def same_polygon(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two sequences of distinct vertices are equal up to their first vertex, in the same direction."""
    if len(one) != len(other) or not one or one[0] not in other:
        return list(one) == list(other)
    begin = list(other).index(one[0])
    return list(one) == [*other[begin:], *other[:begin]]


def same_tour(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two round trips are equal, with any first point and in either direction."""
    return same_polygon(one, other) or same_polygon(one, list(other)[::-1])


def length(tour: Reals) -> float:
    """The length of the way through all points (m, W) and back to the first."""
    return float(np.linalg.norm(tour - np.roll(tour, -1, 0), axis=1).sum())


def triangles(corners: Sequence[int]) -> frozenset[frozenset[int]]:
    """The corners of each triangle, in threes. Malformed triangles (missing or repeated corners) are kept, so that they
    count as wrong."""
    return frozenset(frozenset(corners[at : at + 3]) for at in range(0, len(corners), 3))
