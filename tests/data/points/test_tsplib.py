"""Files of TSPLIB as people write them, and the progress of a long search for a tour."""

import logging

import numpy as np
import pytest

from zoo.data.points.goals import GOALS
from zoo.data.points.goals.local_search import CHANGES, SearchProgress, improved
from zoo.data.points.goals.tour import distances, targets
from zoo.data.points.readers import read_sets
from zoo.data.points.sets import problem
from zoo.errors import DataError
from zoo.metrics.geometry import length

CITIES = "1 0 0\n2 9.5 1\n3 8 7\n4 3 9\n5 1 5\n"
HEAD = "NAME : five\nTYPE : TSP\nDIMENSION : 5\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"


def read(folder, text, name="a.tsp"):
    (folder / name).write_text(text)
    return [one.points.tolist() for one in read_sets(folder / name, "tour")]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + CITIES + "EOF\n",
        HEAD.replace("SECTION", "SECTION:") + CITIES,
        HEAD.replace(" :", ":").lower() + CITIES + "eof\n",
        HEAD.replace("TSP", "TSP (M. Hofmeister)").replace(": 5", ": 5 # cities").replace("2D", "2D {plane}") + CITIES,
        HEAD.replace("NODE", "# drawn by hand\n\nNODE") + CITIES.replace("0\n", "0 # home\n", 1),
        HEAD + CITIES + "EOF\nTOUR_SECTION\n6 1 1\nnotes: none\n",
    ],
)
def test_a_file_as_people_write_it(tmp_path, text):
    assert read(tmp_path, text) == [[[0, 0], [9.5, 1], [8, 7], [3, 9], [1, 5]]]


@pytest.mark.parametrize(
    ("kind", "named"), [("ATSP", "distances that differ by direction"), ("CVRP", "vehicle routing"), ("XYZ", "another")]
)
def test_other_problems_are_refused_by_name(tmp_path, kind, named):
    with pytest.raises(DataError, match=rf"a.tsp: another problem: found TYPE {kind} \(.*{named}.*\), expected TSP"):
        read(tmp_path, HEAD.replace(": TSP", f": {kind}") + CITIES)


def test_two_cities_at_one_place_are_side_by_side_in_a_tour_as_long_as_without_the_double(tmp_path):
    double = CITIES + "6 1 5\n"
    (points,) = read(tmp_path, HEAD.replace(": 5", ": 6") + double)
    tours = targets([np.array(points), np.array(points[:5])])
    assert abs(tours[0].index(4) - tours[0].index(5)) in (1, 5)
    lengths = [length(np.array(points)[tour]) for tour in tours]
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-12)


def test_points_at_one_place_where_they_have_no_meaning():
    points = np.array([[0.0, 0], [1, 0], [0, 1], [1, 0]])
    assert problem(points, GOALS["tour"]) is None
    assert "points 2 and 4 are the same" in problem(points, GOALS["hull"])
    assert "at one place" in problem(np.zeros((4, 2)), GOALS["tour"])


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
    improved(np.arange(30)[None], distances(points), progress)
    assert progress.done > 5
