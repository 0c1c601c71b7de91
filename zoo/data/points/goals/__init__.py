"""Goals for sets of points: their targets, and the order of their output."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray

from zoo.data.points.goals import geometry, tour

GoalName = Literal["hull", "triangulation", "tour", "order"]
Points = NDArray[Any]
"""(n, W) coordinates."""


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


def _each(target: Callable[[Points], list[int]]) -> Callable[[Sequence[Points]], list[list[int]]]:
    return lambda sets: [target(points) for points in sets]


HULL = Goal("hull", 2, 3, _each(geometry.hull), spread=True, closed=True)
# n points with three on the hull have 2n - 5 triangles, and one less for each further point on the hull
TRIANGULATION = Goal(
    "triangulation", 2, 3, _each(geometry.triangulation), longest=lambda n: 3 * (2 * n - 5), spread=True
)
TOUR = Goal("tour", 2, 3, tour.targets, closed=True)
ORDER = Goal("order", 1, 2, _each(geometry.order))
GOALS = {goal.name: goal for goal in (HULL, TRIANGULATION, TOUR, ORDER)}
