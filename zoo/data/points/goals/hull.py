"""The convex hull of points in a plane (Vinyals, Fortunato, Jaitly 2015)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from scipy.spatial import ConvexHull


def target(points: NDArray[Any]) -> list[int]:
    """The corners of the hull of (n, 2) points counter-clockwise, from the one that is read first. A point between two
    corners is none. The points do not all lie on a line."""
    corners = ConvexHull(points).vertices.tolist()  # counter-clockwise, from any of them
    first = corners.index(min(corners))
    return corners[first:] + corners[:first]
