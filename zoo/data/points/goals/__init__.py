"""Goals for sets of points: their targets, and the order of their output.

Convex hulls, Delaunay triangulations and tours (Vinyals, Fortunato, Jaitly 2015); numbers in their order (Vinyals,
Bengio, Kudlur 2016, section 5.1).
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.data.points.goals import tour

GoalName = Literal["hull", "triangulation", "tour", "order"]
Points = NDArray[Any]  # (n, W) coordinates


class Goal(NamedTuple):
    """The goal of a network in a set of n points of `width` coordinates."""

    name: str
    width: int
    fewest: int
    """The smallest n."""
    targets: Callable[[Sequence[Points]], list[list[int]]]
    """Function that computes the targets of sets: numbers of points from 0, in the order of the goal."""
    longest: Callable[[int], int] = lambda n: n
    """Function of n: the largest number of pointers in a target of n points, without the end."""
    spread: bool = False
    """Whether the goal needs points that do not all lie on a line."""
    closed: bool = False
    """Whether the authors' files repeat the first point of a target at its end."""


def hull(points: NDArray[Any]) -> list[int]:
    """The corners of the hull of (n, 2) points counter-clockwise, from the one that is read first. A point between two
    corners is not a corner. The points must not all lie on a line."""
    from scipy.spatial import ConvexHull  # late, since predictions need no targets

    corners = ConvexHull(points).vertices.tolist()  # counter-clockwise, from any of them
    first = corners.index(min(corners))
    return corners[first:] + corners[:first]


def triangulation(points: NDArray[Any]) -> list[int]:
    """The corners of all triangles of (n, 2) points. A triangle's corners are in the order in which they are read;
    triangles are sorted by their incentres, left to right, then upwards. The points must not all lie on a line. If four
    or more points lie on a circle with no point inside, this is one of several triangulations."""
    from scipy.spatial import Delaunay

    triangles = np.sort(Delaunay(points).simplices, 1)  # (m, 3)
    by_incentre = np.lexsort(incentres(points[triangles]).T[::-1])
    return triangles[by_incentre].ravel().tolist()


def incentres(corners: NDArray[Any]) -> NDArray[np.float64]:
    """(m, 2) incentres of triangles (m, 3, 2): the mean of the corners, weighted by the length of the opposite side."""
    corners = corners.astype(np.float64)
    sides = np.linalg.norm(np.roll(corners, -1, 1) - np.roll(corners, -2, 1), axis=2, keepdims=True)  # (m, 3, 1)
    return (corners * sides).sum(1) / sides.sum(1)


def order(points: NDArray[Any]) -> list[int]:
    """The indices of (n, 1) numbers, sorted from the smallest number to the largest."""
    return np.argsort(points[:, 0], kind="stable").tolist()


def _each(target: Callable[[Points], list[int]]) -> Callable[[Sequence[Points]], list[list[int]]]:
    return lambda sets: [target(points) for points in sets]


HULL = Goal("hull", 2, 3, _each(hull), spread=True, closed=True)
# n points with three on the hull have 2n - 5 triangles, and one less for each further point on the hull
TRIANGULATION = Goal("triangulation", 2, 3, _each(triangulation), longest=lambda n: 3 * (2 * n - 5), spread=True)
TOUR = Goal("tour", 2, 3, tour.targets, closed=True)
ORDER = Goal("order", 1, 2, _each(order))
GOALS = {goal.name: goal for goal in (HULL, TRIANGULATION, TOUR, ORDER)}
