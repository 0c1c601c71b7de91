"""The shortest tour through points in a plane (Vinyals, Fortunato, Jaitly 2015): exact for few of them, good for more.

Up to `EXACT` points a tour is optimal, by dynamic programming over sets of cities (Held and Karp 1962; Bellman 1962),
for many sets at once; the paper has exact ones up to 20. For more points it is the best of a few insertions improved by
2-opt and or-opt, and may not be optimal. In the unit square its mean length is 5.73 at 50 points and 7.89 at 100;
optimal are 5.68 and 7.77 (Bello et al. 2016, table 2). The paper used other approximations, A1 to A3.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.data.points.goals.local_search import short

EXACT = 12
"""The largest number of points for which tours are optimal: each further point doubles the work."""
TOGETHER = 32
"""Number of tours that are computed at once, so that their costs stay in the processor's cache."""


def targets(sets: Sequence[NDArray[Any]]) -> list[list[int]]:
    """A tour through each set (n, 2), from the point that is read first, counter-clockwise (with a positive signed
    area). If the area is 0, the second point is the neighbour that is read sooner."""
    found: list[list[int]] = [[] for _ in sets]
    counts = np.array([len(points) for points in sets])
    for count in np.unique(counts):
        members = np.flatnonzero(counts == count).tolist()
        points = np.stack([sets[number] for number in members]).astype(np.float64)
        tours = (shortest if count <= EXACT else short)(distances(points))
        for number, tour in zip(members, counter_clockwise(tours, points).tolist(), strict=True):
            found[number] = tour
    return found


def distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(B, n, n) between the points (B, n, 2) of each set."""
    away = points[:, :, None] - points[:, None]
    return np.hypot(away[..., 0], away[..., 1])


def counter_clockwise(tours: NDArray[Any], points: NDArray[np.float64]) -> NDArray[Any]:
    """Turn the tours (B, n) through the points (B, n, 2) into the direction that `targets` describes. Each tour begins
    with point 0."""
    visited = np.take_along_axis(points, tours[..., None], 1)
    visited -= visited[:, :1]  # the area of points on a line is then exactly 0
    (x, y), (right, above) = np.moveaxis(visited, 2, 0), np.moveaxis(np.roll(visited, -1, 1), 2, 0)
    area = (x * above - y * right).sum(1)
    backwards = (area < 0) | ((area == 0) & (tours[:, 1] > tours[:, -1]))
    return np.where(backwards[:, None], np.roll(tours[:, ::-1], 1, 1), tours)


# Optimal tours


class Level(NamedTuple):
    """The paths from city 0 through k cities of a set, one for each set and each of its cities as the last."""

    last: NDArray[np.int64]  # (P,) the last city of each path
    second_last: NDArray[np.int64]  # (P, k - 1) the cities that can be the last but one
    before: NDArray[np.int64]  # (P, k - 1) which path of the level before ends there


@cache
def levels(count: int) -> list[Level]:
    """The levels k = 1, 2, ... of tours through `count` cities."""
    found = []
    number: dict[tuple[int, ...], int] = {(): 0}
    for k in range(1, count):
        sets = list(combinations(range(1, count), k))
        last, second_last, before = [], [], []
        for cities in sets:
            for place, city in enumerate(cities):
                others = cities[:place] + cities[place + 1 :]
                first = number[others] * len(others)
                last.append(city)
                second_last.append(others)
                before.append(range(first, first + len(others)))
        number = {cities: place for place, cities in enumerate(sets)}
        shape = (len(last), k - 1)
        found.append(Level(np.array(last), np.array(second_last).reshape(shape), np.array(before).reshape(shape)))
    return found


def shortest(distances: NDArray[np.float64]) -> NDArray[np.int64]:
    """The shortest tours (B, n), each beginning with city 0, in either direction; `distances` are (B, n, n), n at least
    2. Time and memory grow with 2^n n^2."""
    parts = [_shortest(distances[at : at + TOGETHER]) for at in range(0, len(distances), TOGETHER)]
    return np.concatenate(parts) if parts else np.zeros(distances.shape[:2], np.int64)


def _shortest(distances: NDArray[np.float64]) -> NDArray[np.int64]:
    size, count = distances.shape[:2]
    apart = np.ascontiguousarray(np.moveaxis(distances, 0, 2))  # (n, n, B): adjacent values are read together
    plan = levels(count)
    cost = apart[0, plan[0].last]  # (P, B): the shortest path of each kind
    choices: list[NDArray[Any]] = []
    for level in plan[1:]:
        costs = cost[level.before] + apart[level.second_last, level.last[:, None]]  # (P, k - 1, B)
        choice = costs.argmin(1)  # (P, B)
        cost = np.take_along_axis(costs, choice[:, None], 1)[:, 0]
        choices.append(choice)
    row = np.arange(size)
    path = (cost + apart[plan[-1].last, 0]).argmin(0)  # (B,)
    tours = np.zeros((size, count), np.int64)
    for place in range(count - 1, 0, -1):
        level = plan[place - 1]
        tours[:, place] = level.last[path]
        if place > 1:
            path = level.before[path, choices[place - 2][path, row]]
    return tours
