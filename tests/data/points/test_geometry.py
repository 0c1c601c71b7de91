"""The orientation of three points, and the area and simplicity of polygons, by hand and by scipy."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from zoo.data.points.geometry import area, is_simple, orientation

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 3.0], [0.0, 3.0]])


def test_turns():
    a, b = np.array([0.0, 0.0]), np.array([1.0, 1.0])
    thirds = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [-1.0, -1.0], [0.0, 0.0]])
    assert orientation(a, b, thirds).tolist() == [1, -1, 0, 0, 0]
    assert orientation(a, b, thirds[0]) == 1


def test_turns_are_right_where_rounding_is_not():
    """A well known trap (Kettner et al. 2008): points next to (0.5, 0.5) and a line from (12, 12) to (24, 24)."""
    step = 2.0**-53
    x, y = (0.5 + step * part for part in np.mgrid[:24, :24].astype(float))
    grid = np.stack([x, y], -1)
    right = np.sign(y - x)  # by hand: (12 - x) (24 - y) - (12 - y) (24 - x) = 12 (y - x)
    assert (orientation(grid, np.array([12.0, 12.0]), np.array([24.0, 24.0])) == right).all()
    assert (np.sign((12.0 - x) * (24.0 - y) - (12.0 - y) * (24.0 - x)) != right).any()


def test_area():
    assert area(SQUARE) == 6 and area(SQUARE[::-1]) == -6
    assert area(SQUARE[:3]) == 3
    assert area(SQUARE[:2]) == area(SQUARE[:0]) == 0
    assert area(np.array([[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]], float)) == 16 - 6  # a triangle of 4 x 3 is missing


def test_the_area_and_the_simplicity_of_hulls_are_scipys():
    random = np.random.default_rng(0)
    for count in (3, 5, 20, 100):
        points = random.random((count, 2))
        hull = ConvexHull(points)
        assert area(points[hull.vertices]) == pytest.approx(hull.volume)
        assert is_simple(points[hull.vertices])


@pytest.mark.parametrize(
    ("polygon", "simple"),
    [
        (SQUARE, True),
        (SQUARE[[0, 2, 1, 3]], False),  # two edges cross
        (SQUARE[:2], False),
        (SQUARE[[0, 1, 2, 1]], False),  # a corner twice
        ([[0, 0], [1, 0], [2, 0]], False),  # flat
        ([[0, 0], [2, 0], [1, 0], [1, 1]], False),  # an edge runs back over the one before
        ([[0, 0], [1, 0], [2, 0], [1, 1]], True),  # a corner of 180 degrees is one
        ([[0, 0], [4, 0], [4, 4], [2, 0], [0, 4]], False),  # a corner touches an edge
        ([[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]], True),
        ([[0, 0], [3, 0], [3, 2], [2, 2], [2, 0.0], [1, 0], [1, 2], [0, 2]], False),  # edges lie on each other
    ],
)
def test_simple_polygons(polygon, simple):
    polygon = np.array(polygon, float)
    for turn in range(len(polygon)):
        assert is_simple(np.roll(polygon, turn, 0)) is simple
        assert is_simple(np.roll(polygon, turn, 0)[::-1]) is simple
