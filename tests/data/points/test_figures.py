"""Scores of sequences of pointers, by hand."""

from math import nan, sqrt

import numpy as np
import pytest

from zoo.data.points.figures import BEST, FIGURES, JUDGES, figure_text, hull, order, tour, triangulation

POINTS = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0], [4.0, 4.0], [0.0, 4.0]])
TRUE = [0, 1, 3, 4]
"""The hull; point 2 is inside."""


@pytest.mark.parametrize(
    ("written", "figures"),
    [
        ([0, 1, 3, 4], (1, 1.0, 0)),
        ([3, 4, 0, 1], (1, 1.0, 0)),  # begins elsewhere
        ([4, 3, 1, 0], (0, 1.0, 0)),  # the other way round
        ([0, 2, 1, 3, 4], (0, 14 / 16, 0)),  # a triangle of 4 x 1 is missing
        ([0, 1, 3], (0, 0.5, 0)),
        ([0, 3, 1, 4], (0, nan, 1)),  # crosses itself
        ([2, 1, 3, 4], (0, 10 / 16, 0)),  # begins beside the hull
        ([0, 1], (0, nan, 1)),
        ([], (0, nan, 1)),
        ([0, 1, 3, 4, 0], (0, nan, 1)),  # a corner twice
        ([0, 1, 3, 9], (0, nan, 1)),  # unknown point
    ],
)
def test_hulls(written, figures):
    found = hull(POINTS, written, TRUE, 7.0)
    assert (found["accuracy"], found["area"], found["non_simple"]) == pytest.approx(figures, nan_ok=True)


def test_triangulations():
    true = [0, 1, 2, 1, 2, 3, 2, 3, 4, 0, 2, 4]
    for written, accuracy, coverage in (
        (true, 1, 1),
        ([4, 3, 2, 2, 1, 0, 4, 2, 0, 3, 2, 1], 1, 1),  # as sets of sets
        (true[:9], 0, 3 / 4),
        (true[:8], 0, 2 / 4),  # the third is incomplete
        ([*true, 0, 1, 3], 0, 1),
        ([0, 1, 1, 1, 2, 3], 0, 1 / 4),
        ([], 0, 0),
    ):
        assert triangulation(POINTS, written, true, 1.0) == {"accuracy": accuracy, "coverage": coverage}


def test_tours_in_the_units_of_their_source():
    true = [0, 2, 1, 3, 4]
    best = 2 * sqrt(5) + 12
    assert tour(POINTS, [4, 3, 1, 2, 0], true, 10.0) == {
        "invalid": 0,
        "length": pytest.approx(10 * best),
        "ratio": pytest.approx(1),
        "accuracy": 1,
    }
    longer = tour(POINTS, [0, 1, 2, 3, 4], true, 10.0)
    assert longer["ratio"] == pytest.approx((4 + sqrt(5) + sqrt(13) + 8) / best) and longer["accuracy"] == 0
    for wrong in ([0, 1, 2, 3], [0, 1, 2, 3, 3], [0, 1, 2, 3, 4, 0], [0, 1, 2, 3, 9], []):
        found = tour(POINTS, wrong, true, 10.0)
        assert found["invalid"] == 1 and found["accuracy"] == 0
        assert np.isnan([found["length"], found["ratio"]]).all()


def test_orders():
    assert order(POINTS, [1, 0], [1, 0], 1.0) == {"accuracy": 1} and order(POINTS, [1], [1, 0], 1.0) == {"accuracy": 0}


def test_without_a_target_there_is_what_needs_none():
    assert hull(POINTS, [0, 1, 3], None, 1.0) == {"non_simple": 0}
    assert tour(POINTS[:2], [1, 0], None, 3.0) == {"invalid": 0, "length": 24}
    assert triangulation(POINTS, [0, 1, 2], None, 1.0) == order(POINTS, [0], None, 1.0) == {}


@pytest.mark.parametrize("goal", JUDGES)
def test_every_figure_is_found_and_has_a_best(goal):
    truth = [0, 1, 2]
    assert set(JUDGES[goal](POINTS[:3], truth, truth, 1.0)) == set(FIGURES[goal])
    assert set(FIGURES[goal]) <= set(BEST)


def test_an_area_is_fail_where_more_than_one_in_a_hundred_is_no_polygon():
    assert figure_text("area", {"area": 0.997, "non_simple": 0.01}) == "99.7%"
    assert figure_text("area", {"area": 0.997, "non_simple": 0.0101}) == "FAIL"
    assert figure_text("non_simple", {"non_simple": 0.0101}) == "1.0%"
    assert figure_text("length", {"length": 2.1234567}) == "2.123" and figure_text("coverage", {"coverage": nan}) == "-"
