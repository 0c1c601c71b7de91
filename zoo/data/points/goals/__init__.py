"""What is pointed out in a set of points: each goal is a file of its own, with the order in which it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray

from zoo.data.points.goals import hull, order, tour, triangulation

GoalName = Literal["hull", "triangulation", "tour", "order"]
Points = NDArray[Any]
"""(n, W) coordinates."""


class Goal(NamedTuple):
    """What a network is to point out in a set of n points of `width` coordinates."""

    name: str
    noun: str
    """What a target is called."""
    width: int
    fewest: int
    """The smallest n."""
    spread: bool
    """Points that all lie on a line have no such target."""
    longest: Callable[[int], int]
    """Pointers that a target of n points has at most, its end not counted."""
    targets: Callable[[Sequence[Points]], list[list[int]]]
    """What is to be pointed out in each of some sets: numbers of points from 0, in the order of the goal."""


def _each(target: Callable[[Points], list[int]]) -> Callable[[Sequence[Points]], list[list[int]]]:
    return lambda sets: [target(points) for points in sets]


GOALS = {
    goal.name: goal
    for goal in (
        Goal("hull", "hull", 2, 3, True, lambda n: n, _each(hull.target)),
        # n points of which three are on the hull have 2n - 5 triangles, and less the more there are
        Goal("triangulation", "triangulation", 2, 3, True, lambda n: 3 * (2 * n - 5), _each(triangulation.target)),
        Goal("tour", "tour", 2, 3, False, lambda n: n, tour.targets),
        Goal("order", "order", 1, 2, False, lambda n: n, _each(order.target)),
    )
}
