"""The view of pointing: terminal, tables, drawings, pictures and pages, and the sets that it reads."""

from argparse import Namespace
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.tasks.points import spec_of
from tests.visualize.reading import collection, grid, shapes, texts
from zoo.errors import DataError
from zoo.predicting.pointing import ExaminedPointing, Pointed, PointingPrediction
from zoo.visualize.pointing import AWAY, PointingView, free_places, lines, positions, true_places, verdict

SQUARE = ((0.0, 0.0), (4.0, 0.0), (2.0, 1.0), (4.0, 4.0))
STEPS = ((0.0, 0.75, 0.25, 0.0, 0.0), (0.0, 0.0, 0.5, 0.5, 0.0), (0.125, 0.0, 0.0, 0.125, 0.75), (1.0, *[0.0] * 4))
HULL = PointingPrediction(
    points=SQUARE,
    goal="hull",
    answers=(
        Pointed(
            (1, 2, 4), -0.5, -0.5, finished=True, attention=STEPS,
            figures={"non_simple": 0.0, "accuracy": 1.0, "area": 1.0},
        ),
    ),
)  # fmt: skip


def answered(prediction=HULL, goal="hull", **changes):
    """HULL, or another, with changes of its best answer."""
    return replace(prediction, goal=goal, answers=(replace(prediction.best, **changes),))


TRIANGLES = answered(goal="triangulation", numbers=(1, 2, 3, 2, 3, 4), attention=None, figures={})
TOUR = answered(goal="tour", numbers=(1, 2, 4, 3), attention=None, figures={"invalid": 0.0, "length": 13.5})
ORDER = answered(
    replace(HULL, points=((0.5,), (0.25,), (0.75,))), goal="order", numbers=(2, 1, 3), attention=None, figures={}
)


def view(goal="hull"):
    made = PointingView()
    made.prepare(SimpleNamespace(task=SimpleNamespace(spec=spec_of(goal))), Namespace(attention=None))
    return made


VIEW = view()


# what joins the points


def test_lines_of_each_goal():
    a, b, c, d = SQUARE
    assert lines("hull", (1, 2, 4), SQUARE) == [[a, b, d, a]]
    assert lines("tour", (1, 2, 4, 3), SQUARE) == [[a, b, d, c, a]]
    assert lines("triangulation", (1, 2, 3, 2, 3, 4, 1), SQUARE) == [[a, b, c, a], [b, c, d, b]]
    assert lines("order", (), SQUARE) == lines("hull", (), SQUARE) == []
    assert lines("hull", (1, 9, 2), SQUARE) == [[a, b, a]]  # there is no point 9
    assert lines("triangulation", (1, 2, 9), SQUARE) == []
    at = positions(ORDER.points)
    assert at == [(1, 0.5), (2, 0.25), (3, 0.75)]
    assert lines("order", (2, 1, 3), at) == [[(1, 0.25), (2, 0.5), (3, 0.75)]]


def test_verdicts_and_the_true_points_as_long_as_the_answer_is_the_targets():
    assert verdict(HULL) == "right, area 1"
    wrong = answered(figures={"non_simple": 1.0, "accuracy": 0.0, "area": float("nan")}, finished=False)
    assert verdict(wrong) == "unfinished, not the target's, not a simple polygon"
    assert verdict(TOUR) == "length 13.5"
    assert verdict(answered(goal="tour", figures={"invalid": 1.0})) == "not a tour: not every point once"
    assert true_places((1, 2, 4), (1, 2, 4)) == [(0, 1), (1, 2), (2, 4), (3, 0)]
    assert true_places((1, 3, 4), (1, 2, 4)) == [(0, 1), (1, 2)]
    assert true_places((), (1, 2)) == [(0, 1)] and true_places((1,), None) == []


# terminal, tables and JSON


def test_lines_of_the_terminal_rows_and_json():
    def printed(prediction):
        return VIEW.terminal(prediction, 0, Namespace()).split("\n\t")

    assert printed(HULL) == ["hull of 4 points: 1 2 4  right, area 1", "1\t0\t0", "2\t4\t0", "4\t4\t4"]
    assert printed(TRIANGLES) == ["triangulation of 4 points: 1 2 3, 2 3 4", "1\t2\t3", "2\t3\t4"]
    assert printed(ORDER)[1:] == ["2\t0.25", "1\t0.5", "3\t0.75"]
    assert printed(answered(numbers=(9,), figures={}))[1] == "9\tunknown point"
    assert printed(answered(numbers=(), figures={})) == ["hull of 4 points: nothing"]
    row = VIEW.examined_row(ExaminedPointing(4, HULL, "1 2 4", (1, 2, 4)))
    assert row == [4, "0 0; 4 0; 2 1; 4 4", "1 2 4", "1 2 4", -0.5, "non_simple 0, accuracy 1, area 1"]
    assert VIEW.examined_columns() == ["index", "points", "true", "answer", "log-probability", "figures"]
    nan = answered(figures={"non_simple": 1.0, "area": float("nan")})
    assert VIEW.as_json(nan)["answers"][0]["figures"] == {"non_simple": 1, "area": None}
    assert VIEW.row(nan)[-1] == "non_simple 1"


# drawing


def drawing_of(said, target=None):
    part = VIEW.blocks(said, ExaminedPointing(0, said, "", target))[1]
    return getattr(part, "left", part).drawing


def drawn(said, target=None):
    """The points, and the lines of target and answer, in positions of SQUARE."""
    drawing = drawing_of(said, target)
    points = [shape.points[0] for shape in drawing.shapes["points"]]
    named = {place: number for number, place in enumerate(points, 1)}
    found = {
        kind: [[named.get(p) for p in line.points] for line in drawing.shapes[kind]] for kind in ("targets", "answers")
    }
    return drawing, points, found["targets"], found["answers"]


def test_the_drawing_has_points_target_and_answer():
    drawing, (a, b, _, d), targets, answers = drawn(HULL, (1, 2, 4))
    assert targets == answers == [[1, 2, 4, 1]]
    assert a[0] < b[0] == d[0] and a[1] == b[1] > d[1], "y points up"
    assert b[0] - a[0] == pytest.approx(b[1] - d[1]), "one scale"
    assert {label.text for label in drawing.labels} >= {"1", "2", "3", "4", "x 0 to 4, y 0 to 4"}
    assert drawing.spoken == "hull of 4 points: 1 2 4"
    _, _, targets, answers = drawn(TRIANGLES)
    assert targets == [] and answers == [[1, 2, 3, 1], [2, 3, 4, 2]]


def test_numbers_are_drawn_in_the_order_of_the_answer_and_many_steps_are_cut():
    drawing = drawing_of(ORDER)
    (line,) = drawing.shapes["answers"]
    xs, ys = zip(*line.points, strict=True)
    assert list(xs) == sorted(xs) and list(ys) == sorted(ys, reverse=True), "0.25, 0.5, 0.75: each higher"
    row = (0.0,) * 5
    figure = VIEW.picture(answered(numbers=(1, 2) * 40, attention=(row,) * 81))
    assert grid(figure).shape == (60, 5) and "cut to 60 steps" in texts(figure)


@pytest.mark.parametrize("narrow", [(0.1, 1.0), (1.0, 0.1), (1.0, 1.0)])
def test_a_drawing_has_the_proportions_of_its_points(narrow):
    """A narrow set left three quarters of a square empty once."""
    points = tuple((x * narrow[0], y * narrow[1]) for x, y in SQUARE)
    drawing = drawing_of(answered(replace(HULL, points=points)))
    boxes = [shape.points[0] for shape in drawing.shapes["points"]]
    used = np.ptp(np.array(boxes), axis=0) / (drawing.width, drawing.height)
    assert used.max() > 0.75 and used.min() > 0.25


def test_numbers_stay_away_from_lines_and_points():
    places_, line = [(100.0, 100.0), (130.0, 100.0), (160.0, 100.0)], [[(0.0, 100.0), (200.0, 100.0)]]
    for (x, y), number in zip(places_, free_places(places_, places_, line), strict=True):
        assert np.hypot(number[0] - x, number[1] - y) == pytest.approx(AWAY)
        assert abs(number[1] - 100) > 0.9 * AWAY, "above or below the line"
    rng = np.random.default_rng(0)
    many = [tuple(point) for point in rng.uniform(20, 380, (12, 2)).tolist()]
    placed = free_places(many, many, [[*many, many[0]]])
    apart = [np.hypot(*np.subtract(number, point)) for number in placed for point in many]
    assert min(apart) > 6
    one, other = free_places([(50.0, 50.0)] * 2, [(50.0, 50.0)] * 2, [])
    assert np.hypot(*np.subtract(one, other)) > AWAY, "two points at one place"


# pictures and pages


def test_the_picture_has_the_weights_of_each_step():
    figure = VIEW.picture(HULL, ExaminedPointing(0, HULL, "1 2 4", (1, 2, 4)))
    np.testing.assert_array_equal(grid(figure), HULL.best.attention)
    assert {"1: 1", "2: 2", "3: 4", "4: end", "end", "answer", "true answer", "1 2 4"} <= set(texts(figure))
    assert len([shape for shape in shapes(figure, "true") if shape[1] > 20]) == 4
    assert collection(VIEW.picture(HULL), "targets") is None and collection(VIEW.picture(HULL), "true") is None
    for prediction in (TRIANGLES, TOUR, ORDER, answered(numbers=(), attention=None)):
        figure = VIEW.picture(prediction)
        assert not any(text.startswith("1: ") for text in texts(figure))
        figure.canvas.draw()


@pytest.mark.parametrize("prediction", [HULL, TRIANGLES, TOUR, ORDER, answered(numbers=(), attention=None)])
def test_a_page_has_the_drawing_and_a_table_where_there_is_attention(prediction):
    html = VIEW.page([prediction, None])
    assert html.count("<circle") == len(prediction.points) and ("<table" in html) == (prediction is HULL)
    assert "1 set of points, 1 blank." in html and f'data-goal="{prediction.goal}"' in html
    assert ('data-answer="1 2 4"' in html) == (prediction is HULL)


# what a user gives


def test_sets_on_the_command_line_and_in_files(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("x,y\n1,2\n3,2\n2,5\n\n0,0\n1,0\n0,1\n4,4\n")
    first, second, typed = (np.asarray(one).tolist() for one in VIEW.read([str(file), "0 0 1 0 0 1"], None))
    assert (first, second) == ([[1, 2], [3, 2], [2, 5]], [[0, 0], [1, 0], [0, 1], [4, 4]])
    assert typed == [[0, 0], [1, 0], [0, 1]]
    assert len(VIEW.read([], file)) == 2
    assert VIEW.read(["0,0; 1,0; 0,1", " "], None) == [[[0, 0], [1, 0], [0, 1]], None]
    assert view("order").read(["0.5 0.25 0.75"], None) == [[[0.5], [0.25], [0.75]]]
    assert VIEW.read(["0 0 1 0 0 1 output 1 2 3"], None) == [[[0, 0], [1, 0], [0, 1]]]
    many = " ".join(f"0.{number} 0.5" for number in range(100, 400))  # longer than the name of a file can be
    assert len(VIEW.read([many], None)[0]) == 300


NO_SETS = {
    "0 0 1 x": "could not convert string to float: 'x'; expected the coordinates of points",
    "0 0 1": "3 numbers; expected 2 for each point",
    "nothing.csv": "nothing.csv: no such file; expected a file of point sets, or coordinates",
}


@pytest.mark.parametrize("word", NO_SETS)
def test_what_is_no_set_is_refused(word):
    with pytest.raises(DataError, match=NO_SETS[word]):
        VIEW.read([word], None)
