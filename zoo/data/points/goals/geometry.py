"""Convex hulls and Delaunay triangulations of points in a plane (Vinyals, Fortunato, Jaitly 2015), and numbers in their
order (Vinyals, Bengio, Kudlur 2016, section 5.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, Delaunay


def hull(points: NDArray[Any]) -> list[int]:
    """The corners of the hull of (n, 2) points counter-clockwise, from the one that is read first. A point between two
    corners is none. The points do not all lie on a line."""
    corners = ConvexHull(points).vertices.tolist()  # counter-clockwise, from any of them
    first = corners.index(min(corners))
    return corners[first:] + corners[:first]


def triangulation(points: NDArray[Any]) -> list[int]:
    """The corners of all triangles of (n, 2) points, in sequence: each triangle's in the order in which they are read,
    the triangles by their incentres from left to right, and upwards among equals. The points do not all lie on a line.
    If four or more of them lie on a circle without another inside, this is one of several triangulations."""
    triangles = np.sort(Delaunay(points).simplices, 1)  # (m, 3)
    by_incentre = np.lexsort(incentres(points[triangles]).T[::-1])
    return triangles[by_incentre].ravel().tolist()


def incentres(corners: NDArray[Any]) -> NDArray[np.float64]:
    """(m, 2) of triangles (m, 3, 2): the corners, each weighed by the length of the side opposite to it."""
    corners = corners.astype(np.float64)
    sides = np.linalg.norm(np.roll(corners, -1, 1) - np.roll(corners, -2, 1), axis=2, keepdims=True)  # (m, 3, 1)
    return (corners * sides).sum(1) / sides.sum(1)


def order(points: NDArray[Any]) -> list[int]:
    """The numbers of (n, 1) numbers, from the smallest to the largest."""
    return np.argsort(points[:, 0], kind="stable").tolist()
