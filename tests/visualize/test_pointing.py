"""What is shown of sets of points: on the terminal, in tables, as a picture and on a page; how a user gives them."""

from argparse import Namespace

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PatchCollection, QuadMesh

from tests.tasks.points import spec_of
from tests.visualize.pointings import HULL, ORDER, SQUARE, TOUR, TRIANGLES, answered
from tests.visualize.test_document_page import Page
from zoo.data.points.encoding import PointEncoder
from zoo.errors import DataError
from zoo.tasks.pointing import ExaminedPointing
from zoo.visualize.pointing import PointingView
from zoo.visualize.pointing_drawing import in_order, lines, places, verdict
from zoo.visualize.pointing_picture import MOST_STEPS, figures_figure, pointing_figure, true_places


class Predictor:
    """As much of one as reading asks for."""

    def __init__(self, goal):
        self.task, self.checkpoint = self, None
        self.spec, self.encoder = spec_of(goal), PointEncoder(goal)


def view(goal="hull"):
    made = PointingView()
    made.meet(Predictor(goal))
    return made


VIEW = view()


# what joins the points


def test_lines_of_each_goal():
    a, b, c, d = SQUARE
    assert lines("hull", (1, 2, 4), SQUARE) == [[a, b, d, a]]
    assert lines("tour", (1, 2, 4, 3), SQUARE) == [[a, b, d, c, a]]
    assert lines("triangulation", (1, 2, 3, 2, 3, 4, 1), SQUARE) == [[a, b, c, a], [b, c, d, b]]
    assert lines("order", (1, 2), SQUARE) == lines("hull", (), SQUARE) == []
    assert lines("hull", (1, 9, 2), SQUARE) == [[a, b, a]]  # there is no point 9
    assert lines("triangulation", (1, 2, 9), SQUARE) == []


def test_numbers_stand_side_by_side_as_high_as_they_are():
    at = places(ORDER)
    assert at == [(1, 0.5), (2, 0.25), (3, 0.75)]
    assert in_order((2, 1, 3), at) == [(1, 0.25), (2, 0.5), (3, 0.75)]


def test_verdicts():
    assert verdict(HULL) == "right, area 1"
    wrong = answered(figures={"non_simple": 1.0, "accuracy": 0.0, "area": float("nan")}, finished=False)
    assert verdict(wrong) == "unfinished, not the target's, no simple polygon"
    assert verdict(TOUR) == "length 13.5"
    assert verdict(answered(goal="tour", figures={"invalid": 1.0})) == "no tour: not every point once"


def test_the_true_points_are_framed_as_long_as_the_answer_is_the_targets():
    assert true_places((1, 2, 4), (1, 2, 4)) == [(0, 1), (1, 2), (2, 4), (3, 0)]
    assert true_places((1, 3, 4), (1, 2, 4)) == [(0, 1), (1, 2)]
    assert true_places((), (1, 2)) == [(0, 1)] and true_places((1,), None) == []


# terminal, tables and JSON


def test_the_terminal_has_numbers_and_coordinates():
    assert VIEW.terminal(HULL, 0, Namespace()).splitlines() == [
        "hull of 4 points: 1 2 4  right, area 1",
        "\t1\t0\t0",
        "\t2\t4\t0",
        "\t4\t4\t4",
    ]
    assert VIEW.terminal(TRIANGLES, 0, Namespace()).splitlines() == [
        "triangulation of 4 points: 1 2 3, 2 3 4",
        "\t1\t2\t3",
        "\t2\t3\t4",
    ]
    assert VIEW.terminal(ORDER, 0, Namespace()).splitlines()[1:] == ["\t2\t0.25", "\t1\t0.5", "\t3\t0.75"]
    missing = VIEW.terminal(answered(numbers=(9,), figures={}), 0, Namespace())
    assert missing.splitlines()[1] == "\t9\tthere is no such point"
    assert VIEW.terminal(answered(numbers=(), figures={}), 0, Namespace()) == "hull of 4 points: nothing"


def test_rows_and_json():
    examined = ExaminedPointing(4, HULL, "1 2 4", (1, 2, 4))
    assert dict(zip(VIEW.examined_columns(), VIEW.examined_row(examined), strict=True)) == {
        "index": 4,
        "points": "0 0; 4 0; 2 1; 4 4",
        "true": "1 2 4",
        "answer": "1 2 4",
        "log-probability": -0.5,
        "figures": "non_simple 0, accuracy 1, area 1",
    }
    nan = answered(figures={"non_simple": 1.0, "area": float("nan")})
    assert VIEW.as_json(nan)["answers"][0]["figures"] == {"non_simple": 1, "area": None}
    assert VIEW.row(nan)[-1] == "non_simple 1"


# picture


def parts(axes, kind):
    return [part for part in axes.collections if isinstance(part, kind)]


def drawn(figure):
    """The lines of target and answer, by name."""
    return {
        part.get_label(): [line.tolist() for line in part.get_segments()]
        for part in parts(figure.axes[0], LineCollection)
    }


def test_the_picture_has_points_target_answer_and_the_weights_of_each_step():
    figure = VIEW.picture(HULL, ExaminedPointing(0, HULL, "1 2 4", (1, 2, 4)))
    a, b, _, d = map(list, SQUARE)
    assert drawn(figure) == {"target": [[a, b, d, a]], "answer": [[a, b, d, a]]}
    points, weights = figure.axes
    assert [text.get_text() for text in points.texts] == ["1", "2", "3", "4"]
    (mesh,) = parts(weights, QuadMesh)
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).reshape(4, 5), HULL.best.attention)
    assert [label.get_text() for label in weights.get_xticklabels()] == ["end", "1", "2", "3", "4"]
    assert [label.get_text() for label in weights.get_yticklabels()] == ["1: 1", "2: 2", "3: 4", "4: end"]
    (frames,) = parts(weights, PatchCollection)
    assert [tuple(path.get_extents().min) for path in frames.get_paths()] == [(1, 0), (2, 1), (4, 2), (0, 3)]
    figure.canvas.draw()


def test_a_picture_of_what_a_user_gave_has_no_target_and_one_without_attention_no_weights():
    assert drawn(VIEW.picture(HULL))["target"] == []
    figure = VIEW.picture(TRIANGLES)
    assert len(figure.axes) == 1 and len(drawn(figure)["answer"]) == 2
    assert drawn(VIEW.picture(ORDER))["answer"] == [[[1, 0.25], [2, 0.5], [3, 0.75]]]
    for prediction in (TRIANGLES, TOUR, ORDER, answered(numbers=(), attention=None)):
        VIEW.picture(prediction).canvas.draw()


def test_many_steps_are_cut():
    row = (0.0,) * 5
    figure = pointing_figure(answered(numbers=(1, 2) * 40, attention=(row,) * 81))
    assert len(figure.axes[1].get_yticklabels()) == MOST_STEPS
    assert any("weights cut to" in text.get_text() for text in figure.texts)


def test_the_figures_of_a_test_have_a_row_for_each_part():
    rows = {"n5": {"accuracy": "92.0%", "area": "99.6%"}, "n50": {"accuracy": "69.6%", "area": "FAIL"}}
    written = [text.get_text() for text in figures_figure("test", rows).texts]
    assert written == ["test", "", "accuracy", "area", "n5", "92.0%", "99.6%", "n50", "69.6%", "FAIL"]


# page


def test_the_page_has_every_weight_exactly_and_the_answer_drawn():
    html = VIEW.page([HULL, None])
    page = Page(html)
    weights = [float(about["data-weight"]) for tag, about, _ in page.elements if tag == "td" and "data-weight" in about]
    assert weights == [weight for row in HULL.best.attention for weight in row]
    assert '<polyline points="' in html and html.count("<circle") == 4
    assert 'data-answer="1 2 4"' in html and "1 set, 1 blank." in html
    # corners of the drawing: point 1 at the lower left, point 4 at the upper right
    assert 'cx="16.00" cy="304.00"' in html and 'cx="304.00" cy="16.00"' in html


@pytest.mark.parametrize("prediction", [TRIANGLES, TOUR, ORDER, answered(numbers=(), attention=None)])
def test_a_page_without_attention_has_the_drawing(prediction):
    html = VIEW.page([prediction])
    assert html.count("<circle") == len(prediction.points) and 'class="steps"' not in html


# what a user gives


def test_sets_on_the_command_line_and_in_files(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("x,y\n1,2\n3,2\n2,5\n\n0,0\n1,0\n0,1\n4,4\n")
    found = VIEW.read([str(file), "0 0 1 0 0 1"], None)
    assert [np.asarray(one).tolist() for one in found] == [
        [[1, 2], [3, 2], [2, 5]],
        [[0, 0], [1, 0], [0, 1], [4, 4]],
        [[0, 0], [1, 0], [0, 1]],
    ]
    assert len(VIEW.read([], file)) == 2
    assert VIEW.read(["0,0; 1,0; 0,1", " "], None) == [[[0, 0], [1, 0], [0, 1]], None]
    assert view("order").read(["0.5 0.25 0.75"], None) == [[[0.5], [0.25], [0.75]]]
    assert VIEW.read(["0 0 1 0 0 1 output 1 2 3"], None) == [[[0, 0], [1, 0], [0, 1]]]
    many = " ".join(f"0.{number} 0.5" for number in range(100, 400))  # longer than the name of a file can be
    assert len(VIEW.read([many], None)[0]) == 300


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["0 0 1 x"], "could not convert string to float: 'x'; expected the coordinates of points"),
        (["0 0 1"], "3 numbers; expected 2 for each point"),
        (["nothing.csv"], "expected the coordinates of points, x1 y1 x2 y2 ..., or a file"),
    ],
)
def test_what_is_no_set_is_refused(words, message):
    with pytest.raises(DataError, match=message):
        VIEW.read(words, None)


def test_text_in_a_column_of_numbers_names_file_and_line(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("x,y\n1,2\n3,two\n2,5\n")
    with pytest.raises(DataError, match=r"points.csv, line 3: text in a column of numbers"):
        VIEW.read([], file)
