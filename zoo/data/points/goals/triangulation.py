"""The Delaunay triangulation of points in a plane (Vinyals, Fortunato, Jaitly 2015)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay


def target(points: NDArray[Any]) -> list[int]:
    """The corners of all triangles of (n, 2) points, one triangle after the other: its corners in the order in which
    they are read, the triangles by their incentres from left to right, and upwards among equals. The points do not all
    lie on a line. Where four or more of them lie on a circle without another inside, there are several
    triangulations, and this is one of them."""
    triangles = np.sort(Delaunay(points).simplices, 1)  # (m, 3)
    by_incentre = np.lexsort(incentres(points[triangles]).T[::-1])
    return triangles[by_incentre].ravel().tolist()


def incentres(corners: NDArray[Any]) -> NDArray[np.float64]:
    """(m, 2) of triangles (m, 3, 2): the corners, each weighed by the length of the side opposite to it."""
    corners = corners.astype(np.float64)
    sides = np.linalg.norm(np.roll(corners, -1, 1) - np.roll(corners, -2, 1), axis=2, keepdims=True)  # (m, 3, 1)
    return (corners * sides).sum(1) / sides.sum(1)
