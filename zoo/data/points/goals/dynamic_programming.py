"""Shortest tours by dynamic programming over sets of cities (Held and Karp 1962; Bellman 1962), many at once."""

from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

TOGETHER = 32
"""Number of tours that are computed at once, so that their costs stay in the processor's cache."""


class Level(NamedTuple):
    """The paths from city 0 through k cities of a set, one for each set and each of its cities as the last."""

    last: NDArray[np.int64]
    """(P,) the last city of each path."""
    second_last: NDArray[np.int64]
    """(P, k - 1) the cities that can be the last but one."""
    before: NDArray[np.int64]
    """(P, k - 1) which path of the level before ends there."""


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
