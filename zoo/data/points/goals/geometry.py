"""Convex hulls and Delaunay triangulations of points in a plane (Vinyals, Fortunato, Jaitly 2015), and numbers in their
order (Vinyals, Bengio, Kudlur 2016, section 5.1)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, Delaunay


def hull(points: NDArray[Any]) -> list[int]:
    """The corners of the hull of (n, 2) points counter-clockwise, from the one that is read first. A point between two
    corners is not a corner. The points must not all lie on a line."""
    corners = ConvexHull(points).vertices.tolist()  # counter-clockwise, from any of them
    first = corners.index(min(corners))
    return corners[first:] + corners[:first]


def triangulation(points: NDArray[Any]) -> list[int]:
    """The corners of all triangles of (n, 2) points. A triangle's corners are in the order in which they are read;
    triangles are sorted by their incentres, left to right, then upwards. The points must not all lie on a line. If four
    or more points lie on a circle with no point inside, this is one of several triangulations."""
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
