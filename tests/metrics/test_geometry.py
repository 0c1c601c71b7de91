"""Polygons, triangles and tours, by numbers worked by hand and by brute force."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from zoo.metrics.geometry import area, is_simple, orientation

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


def meet_exactly(a, b, c, d):
    """Whether two segments meet, by solving for the point in whole numbers."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = ([Fraction(int(x)) for x in p] for p in (a, b, c, d))
    ux, uy, vx, vy = bx - ax, by - ay, dx - cx, dy - cy
    det = ux * vy - uy * vx
    if det:
        s = ((cx - ax) * vy - (cy - ay) * vx) / det
        t = ((cx - ax) * uy - (cy - ay) * ux) / det
        return 0 <= s <= 1 and 0 <= t <= 1
    if (cx - ax) * uy != (cy - ay) * ux:
        return False
    one, other = sorted([(ax, ay), (bx, by)]), sorted([(cx, cy), (dx, dy)])
    return max(one[0], other[0]) <= min(one[1], other[1])


def test_simple_polygons_by_brute_force_on_a_grid():
    """Every order of random points of a coarse grid, where touching and lying in line is the rule."""
    random = np.random.default_rng(1)
    seen = set()
    for _ in range(12):
        cells = random.choice(16, 5, replace=False)
        points = np.stack([cells // 4, cells % 4], 1).astype(float)
        for row in permutations(range(1, 5)):
            polygon = points[[0, *row]]
            edges = [(polygon[i], polygon[(i + 1) % 5]) for i in range(5)]
            right = True
            for i, j in combinations(range(5), 2):
                if (j - i) % 5 in (1, 4):
                    first, second = (i, j) if (j - i) % 5 == 1 else (j, i)
                    (a, b), (_, c) = edges[first], edges[second]
                    in_line = (b[0] - a[0]) * (c[1] - a[1]) == (b[1] - a[1]) * (c[0] - a[0])
                    right &= not (in_line and np.dot(a - b, c - b) > 0)
                else:
                    right &= not meet_exactly(*edges[i], *edges[j])
            assert is_simple(polygon) is right
            seen.add(right)
    assert seen == {True, False}
