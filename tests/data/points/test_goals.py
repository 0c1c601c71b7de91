"""Targets against brute force, against definitions, and in the order of the paper."""

import logging
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from zoo.data.points.geometry import length
from zoo.data.points.goals import GOALS, hull, incentres, local_search, order, tour, triangulation
from zoo.data.points.goals.local_search import CHANGES, SearchProgress, improved, inserted, lengths, short
from zoo.data.points.goals.tour import shortest
from zoo.data.points.sets import problem

SETS = [np.random.default_rng(seed).random((size, 2)) for seed, size in enumerate([3, 4, 5, 6, 8, 10, 20, 50] * 3)]


def cross(a, b, c):
    """Twice the signed area of a triangle: positive where c is to the left on the way from a to b."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@st.composite
def sets(draw, goal="hull", most=9):
    """Points on a grid, so that some lie on a line, or on a circle, with others."""
    cells = st.tuples(*[st.integers(0, 12)] * GOALS[goal].width)
    points = np.array(draw(st.lists(cells, min_size=3, max_size=most, unique=True)), float) / 12
    return points if problem(points, GOALS[goal]) is None else draw(sets(goal, most))


# hulls


@pytest.mark.parametrize("points", SETS, ids=len)
def test_a_hull_leaves_all_points_to_its_left_and_begins_with_its_lowest_number(points):
    found = hull(points)
    edges = list(zip(found, found[1:] + found[:1], strict=True))
    assert found[0] == min(found) and len(set(found)) == len(found)
    # an edge of the hull is a pair of points with all others on its left: those and no others
    every = {
        (a, b)
        for a, b in permutations(range(len(points)), 2)
        if all(cross(points[a], points[b], points[c]) > 0 for c in range(len(points)) if c not in (a, b))
    }
    assert set(edges) == every


@given(sets())
def test_a_point_between_two_corners_is_none(points):
    found = hull(points)
    turns = zip(found, found[1:] + found[:1], found[2:] + found[:2], strict=True)
    assert all(cross(*points[list(turn)]) > 1e-9 for turn in turns)


# triangulations


def corners(points):
    found = triangulation(points)
    return [tuple(found[at : at + 3]) for at in range(0, len(found), 3)]


@pytest.mark.parametrize("points", SETS, ids=len)
def test_no_circle_around_a_triangle_has_a_point_inside(points):
    triangles = corners(points)
    assert set(triangles) == {tuple(sorted(simplex)) for simplex in Delaunay(points).simplices.tolist()}
    for a, b, c in triangles:
        assert a < b < c
        sides, squares = points[[b, c]] - points[a], (points**2).sum(1)
        centre = np.linalg.solve(2 * sides, squares[[b, c]] - squares[a])
        assert (np.linalg.norm(points - centre, axis=1) >= np.linalg.norm(points[a] - centre) - 1e-9).all()
    # Euler: of n points with h on the hull there are 2n - 2 - h triangles
    assert len(triangles) == 2 * len(points) - 2 - len(hull(points))


@pytest.mark.parametrize("points", SETS, ids=len)
def test_triangles_stand_by_their_incentres_from_left_to_right(points):
    triangles = corners(points)
    centres = incentres(points[np.array(triangles)])
    assert [tuple(centre) for centre in centres] == sorted(tuple(centre) for centre in centres)
    for centre, triangle in zip(centres, triangles, strict=True):
        a, b, c = points[list(triangle)]
        away = [abs(cross(p, q, centre)) / np.linalg.norm(p - q) for p, q in ((a, b), (b, c), (c, a))]
        assert away == pytest.approx([away[0]] * 3)  # as far from each side


@given(sets("triangulation"))
def test_triangles_fill_the_hull(points):
    """Where points lie on one circle the triangulation is one of several; it still fills the hull once."""
    total = sum(abs(cross(*points[list(triangle)])) for triangle in corners(points))
    turn = points[hull(points)]
    area = sum(cross((0, 0), a, b) for a, b in zip(turn, np.roll(turn, -1, 0), strict=True))
    assert total == pytest.approx(area)
    assert 3 * len(corners(points)) <= GOALS["triangulation"].longest(len(points))


# tours


@pytest.mark.parametrize("size", range(3, 8))
def test_dynamic_programming_finds_the_best_of_all_tours(size):
    drawn = np.random.default_rng(size).random((8, size, 2))
    distances = tour.distances(drawn)
    tours = shortest(distances)
    assert (np.sort(tours, 1) == np.arange(size)).all() and (tours[:, 0] == 0).all()
    every = [[0, *rest] for rest in permutations(range(1, size))]
    best = [min(length(points[one]) for one in every) for points in drawn]
    assert lengths(tours, distances) == pytest.approx(best)


def area(points, numbers):
    visited = points[numbers]
    return sum(cross((0, 0), a, b) for a, b in zip(visited, np.roll(visited, -1, 0), strict=True)) / 2


def crosses(points, numbers):
    """Whether two edges of a tour cross."""
    edges = list(zip(numbers, numbers[1:] + numbers[:1], strict=True))
    return any(
        len({*one, *two}) == 4
        and cross(*points[[*one, two[0]]]) * cross(*points[[*one, two[1]]]) < 0
        and cross(*points[[*two, one[0]]]) * cross(*points[[*two, one[1]]]) < 0
        for one, two in combinations(edges, 2)
    )


@pytest.mark.parametrize("size", [3, 5, 9, 12, 13, 20])
def test_tours_begin_at_the_first_city_and_go_counter_clockwise(size):
    drawn = list(np.random.default_rng(size).random((20, size, 2)))
    for points, found in zip(drawn, tour.targets(drawn), strict=True):
        assert found[0] == 0 and sorted(found) == list(range(size))
        assert area(points, found) > 0
        assert not crosses(points, found)


def test_a_batch_of_all_sizes_has_the_tours_of_each_alone():
    drawn = [points for points in SETS if len(points) < 30]
    assert tour.targets(drawn) == [tour.targets([points])[0] for points in drawn]
    assert tour.targets([]) == []


def test_a_tour_by_hand():
    """The long way round a rectangle that is read criss-cross, and cities on a line, whose area is 0."""
    assert tour.targets([np.array([[0, 0], [2, 1], [2, 0], [0, 1]])]) == [[0, 2, 1, 3]]
    (found,) = tour.targets([np.array([[0, 0], [3, 3], [1, 1], [2, 2]], float)])
    assert found[0] == 0 and found[1] < found[-1]


def test_mean_lengths_are_those_of_the_paper():
    """2.12 at n = 5 and 2.87 at n = 10, table 2."""
    for size, count, mean in ((5, 4000, 2.12), (10, 1000, 2.87)):
        distances = tour.distances(np.random.default_rng(3).random((count, size, 2)))
        found = lengths(shortest(distances), distances)
        assert found.mean() == pytest.approx(mean, abs=3 * found.std() / count**0.5 + 0.005)


@pytest.mark.parametrize("starts", [1, 4])
def test_local_search_is_near_the_optimum(starts):
    distances = tour.distances(np.random.default_rng(5).random((64, 12, 2)))
    ratio = lengths(short(distances, starts), distances) / lengths(shortest(distances), distances)
    assert ratio.min() > 1 - 1e-9 and ratio.mean() < 1.005 and ratio.max() < 1.1


@pytest.mark.parametrize("size", [4, 5, 9])
def test_local_search_knows_what_each_change_saves(size):
    """The exchange of two edges, and the move of one, two or three cities forwards and backwards, each carried out."""
    (distances,) = tour.distances(np.random.default_rng(size).random((1, size, 2)))
    numbers = np.random.default_rng(1).permutation(size)
    between = distances[numbers[:, None], numbers][None]
    changes = [local_search._exchanges(between), *local_search._moves(between)]
    assert len(changes) == 6
    tried = 0
    for kind, (saved,) in enumerate(changes):
        for i, j in np.argwhere(np.isfinite(saved)).tolist():
            if kind > 0 or j > i:
                after = local_search._changed(numbers, kind, i, j)
                assert sorted(after) == list(range(size))
                before = lengths(numbers[None], distances[None])[0]
                assert before - lengths(after[None], distances[None])[0] == pytest.approx(saved[i, j])
                tried += 1
    # a segment can be put after every city that is neither in it nor before it
    moves = sum(size * max(size - length - 1, 0) * (1 + (length > 1)) for length in (1, 2, 3))
    assert tried == size * (size - 1) // 2 + moves


def test_local_search_ends_where_neither_an_exchange_nor_a_move_helps():
    """Every reversal of a stretch, and every move of one to three cities, tried out one by one."""
    size = 10
    distances = tour.distances(np.random.default_rng(7).random((20, size, 2)))
    start = np.random.default_rng(8).permuted(np.tile(np.arange(size), (20, 1)), axis=1)
    for found, one in zip(improved(start, distances).tolist(), distances, strict=True):

        def length(numbers, one=one):
            return lengths(np.array([numbers]), one[None])[0]

        shortest_near = min(
            min(length(found[:i] + found[i:j][::-1] + found[j:]) for i, j in combinations(range(size + 1), 2)),
            min(
                length(rest[:at] + part + rest[at:])
                for turn in (found[k:] + found[:k] for k in range(size))
                for many in (1, 2, 3)
                for rest in [turn[many:]]
                for part in (turn[:many], turn[:many][::-1])
                for at in range(len(rest) + 1)
            ),
        )
        assert length(found) <= shortest_near + 1e-9


def test_local_search_makes_no_tour_longer_than_its_start():
    distances = tour.distances(np.random.default_rng(9).random((20, 30, 2)))
    orders = np.tile(np.random.default_rng((30, 0)).permutation(30), (20, 1))
    start = inserted(distances, orders, np.ones(20, bool))
    assert (np.sort(start, 1) == np.arange(30)).all()
    few, many = (lengths(short(distances, starts), distances) for starts in (1, 4))
    assert (few <= lengths(start, distances) + 1e-9).all() and (many <= few + 1e-9).all()
    assert few.mean() < 0.99 * lengths(start, distances).mean()


@settings(max_examples=25)
@given(sets("tour", most=16))
def test_tours_through_a_grid(points):
    (found,) = tour.targets([points])
    assert sorted(found) == list(range(len(points))) and found[0] == 0
    assert area(points, found) > -1e-12


def test_two_cities_at_one_place_are_side_by_side_in_a_tour_as_long_as_without_the_double():
    points = np.array([[0, 0], [9.5, 1], [8, 7], [3, 9], [1, 5], [1, 5]])
    whole, without = tour.targets([points, points[:5]])
    assert abs(whole.index(4) - whole.index(5)) in (1, 5)
    assert length(points[whole]) == pytest.approx(length(points[without]), rel=1e-12)


def test_a_long_search_says_how_much_is_done_and_how_long_the_rest_takes(caplog):
    caplog.set_level(logging.INFO)
    now = iter([0.0, 5.0, 20.0, 25.0, 300.0])
    progress = SearchProgress(4, 3000, lambda: next(now))
    quarter = int(CHANGES * 3000)
    progress.changed(1)  # 5 seconds: no line yet
    progress.changed(quarter - 1)  # 20 seconds for one of four tours
    progress.changed(0)
    progress.changed(2 * quarter)
    assert [record.message for record in caplog.records] == [
        "tours of 3,000 points: 25 % done, about 60 seconds left",
        "tours of 3,000 points: 75 % done, about 2 minutes left",
    ]


def test_each_change_of_a_tour_is_counted():
    progress = SearchProgress(1, 30, lambda: 0.0)
    points = np.random.default_rng(0).random((1, 30, 2))
    improved(np.arange(30)[None], tour.distances(points), progress)
    assert progress.done > 5


# orders


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20, unique=True))
def test_an_order_is_that_of_sorting(numbers):
    found = order(np.array(numbers)[:, None])
    assert [numbers[number] for number in found] == sorted(numbers)


@pytest.mark.parametrize("name", GOALS)
def test_no_target_is_longer_than_said(name):
    goal = GOALS[name]
    drawn = [np.random.default_rng(seed).random((5, goal.width)) for seed in range(200)]
    assert max(map(len, goal.targets(drawn))) == goal.longest(5)
