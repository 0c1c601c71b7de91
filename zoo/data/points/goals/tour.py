"""The shortest tour through points in a plane (Vinyals, Fortunato, Jaitly 2015): exact for few of them, good for more.

Up to `EXACT` points a tour is optimal, by dynamic programming; the paper has exact ones up to 20. For more points it
is the best of a few insertions improved by 2-opt and or-opt, and may not be optimal. In the unit square its mean length
is 5.73 at 50 points and 7.89 at 100; optimal are 5.68 and 7.77 (Bello et al. 2016, table 2). The paper used other
approximations, A1 to A3.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zoo.data.points.goals.dynamic_programming import shortest
from zoo.data.points.goals.local_search import short

EXACT = 12
"""The largest number of points for which tours are optimal: each further point doubles the work."""


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
