"""Goals for sets of points: each goal has its own file, which defines the order of its output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray

from zoo.data.points.goals import hull, order, tour, triangulation

GoalName = Literal["hull", "triangulation", "tour", "order"]
Points = NDArray[Any]
"""(n, W) coordinates."""


class Goal(NamedTuple):
    """The goal of a network in a set of n points of `width` coordinates."""

    name: str
    width: int
    fewest: int
    """The smallest n."""
    spread: bool
    """Points that all lie on a line have no such target."""
    closed: bool
    """The authors' files write the first point of a target once more at its end."""
    longest: Callable[[int], int]
    """Pointers that a target of n points has at most, its end not counted."""
    targets: Callable[[Sequence[Points]], list[list[int]]]
    """Function that computes the targets of sets: numbers of points from 0, in the order of the goal."""


def _each(target: Callable[[Points], list[int]]) -> Callable[[Sequence[Points]], list[list[int]]]:
    return lambda sets: [target(points) for points in sets]


HULL = Goal("hull", 2, 3, spread=True, closed=True, longest=lambda n: n, targets=_each(hull.target))
# n points with three on the hull have 2n - 5 triangles, and one less for each further point on the hull
TRIANGULATION = Goal(
    "triangulation",
    2,
    3,
    spread=True,
    closed=False,
    longest=lambda n: 3 * (2 * n - 5),
    targets=_each(triangulation.target),
)
TOUR = Goal("tour", 2, 3, spread=False, closed=True, longest=lambda n: n, targets=tour.targets)
ORDER = Goal("order", 1, 2, spread=False, closed=False, longest=lambda n: n, targets=_each(order.target))
GOALS = {goal.name: goal for goal in (HULL, TRIANGULATION, TOUR, ORDER)}
