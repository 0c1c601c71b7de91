"""Curves of runs: what metrics.csv says, where a line is broken, what an axis says, and what distinguishes runs."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.visualize.reading import collection, contrast, rgb, shapes, texts
from zoo.errors import DataError
from zoo.visualize.curves import Curves, best_of, drawing, has_curves, picture, read_series, thinned
from zoo.visualize.drawing import THEME
from zoo.visualize.plots import COLOURS, HEIGHT, WIDTH, log_ticks, spread, ticks

CSV = """epoch,step,train/loss,train/loss_step,val/accuracy,val/loss
0,9,,1.5,,
0,19,,0.5,,
0,19,,,0.75,0.4
0,19,1.0,,,
"""
RUN = {
    "train/loss_step": [(step, 2.0 / (1 + step)) for step in range(10)],
    "val/accuracy": [(3, 0.5), (6, 0.875), (9, 0.75)],
    "train/learning_rate": [(0, 0.01), (9, 0.0)],
}


def written(folder, text):
    path = folder / "metrics.csv"
    path.write_text(text)
    return path


def test_each_column_is_a_series_of_the_rows_that_have_it(tmp_path):
    series = read_series(written(tmp_path, CSV))
    assert series["train/loss_step"] == [(9, 1.5), (19, 0.5)]
    assert (series["val/accuracy"], series["train/loss"]) == ([(19, 0.75)], [(19, 1.0)])
    assert has_curves(series) and not has_curves({"test/loss": [(0, 1.0)], "epoch": [(0, 1.0)]})


@pytest.mark.parametrize("cut", ["1,2", "1,29,,0.2,,0.", "1,29,,0.2e", "1,"])
def test_the_unfinished_last_line_of_a_killed_run_costs_no_other_line(tmp_path, cut):
    series = read_series(written(tmp_path, CSV + cut))
    assert series["train/loss_step"][:2] == [(9, 1.5), (19, 0.5)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CSV + "1,29,,x,,\n1,39,,0.1,,\n", r"metrics.csv:6: expected a number in each cell: .*'x'"),
        (CSV + "1,29,,1,,,7\n1,39,,0.1,,\n", r"metrics.csv:6: expected a number in each cell"),
        ("a,b\n1,2\n", "with a column named step, found none"),
        ("", "with a column named step, found none"),
        ("step,a\n1,\ud800\n", "cannot be read"),
        ('step,a\n1,"2"3\n', "cannot be read"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, text, message):
    path = tmp_path / "metrics.csv"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DataError, match=message) as raised:
        read_series(path)
    assert "\n" not in str(raised.value)


@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e9))
def test_an_axis_has_a_few_round_numbers(low, length):
    high = low + length
    if high - low < 1e-9 * max(abs(low), abs(high)):
        return  # no twelve digits tell its numbers apart
    found = ticks(low, high)
    assert 2 <= len(found) <= 5
    slack = 1e-6 * (high - low) + 1e-11 * max(abs(low), abs(high))
    assert low - slack <= found[0] and found[-1] <= high + slack
    step = (found[-1] - found[0]) / (len(found) - 1)
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-6)
    assert min(abs(mantissa - unit) for unit in (1, 2, 5)) < 0.05


@given(st.floats(1e-9, 1e3), st.floats(20.0, 1e12))
def test_a_logarithmic_axis_has_a_few_round_numbers(low, ratio):
    found = log_ticks(low, low * ratio)
    assert 1 <= len(found) <= 5 and found == sorted(found) and low <= found[0] and found[-1] <= low * ratio
    assert all(float(f"{value:.0e}") == value for value in found), "one digit each"


def test_a_long_line_is_drawn_by_means_of_neighbours():
    series = [(step, float(step % 2)) for step in range(1000)]
    points = thinned(series, 300)
    assert len(points) == 250 and points[0] == (1.5, 0.5)
    assert sum(y for _, y in points) / 250 == 0.5
    assert thinned(series[:300]) == series[:300]
    assert [math.isnan(y) for _, y in thinned([(0, 1.0), (1, math.nan), (2, 1.0), (3, 1.0)], 2)] == [True, False]


def test_the_best_value_is_the_first_of_equals_and_a_number():
    series = [(1, math.nan), (2, 0.5), (3, 0.9), (4, 0.9), (5, math.inf)]
    assert (best_of(series, "max"), best_of(series, "min")) == ((3, 0.9), (2, 0.5))
    assert best_of([(1, math.nan)], "max") is None


def test_one_run_has_loss_metrics_and_rate():
    modes = {"accuracy": "max", "other": "min"}
    figure = picture([Curves(RUN, headline=("accuracy",), modes=modes)], "HAN on Yelp", "logs/x")
    words = texts(figure)
    assert {"HAN on Yelp", "logs/x", "loss", "accuracy", "learning rate", "training, by step"} <= {*words}
    assert "0.875" in words, "the best accuracy is written"
    (ring,) = shapes(figure, "rings")
    discs = [place for place, _, _ in shapes(figure, "points")]
    assert ring[0] == pytest.approx(min(discs, key=lambda place: place[1])), (
        "the highest of the points, since y grows downwards"
    )


def test_the_headline_comes_first_and_without_it_all_validated_metrics():
    series = {name: [(1, 1.0)] for name in ("val/b", "val/loss", "val/a", "train/c")}
    assert Curves(series).shown() == ["b", "a"]
    assert Curves(series, headline=("a", "d")).shown() == ["a"]
    assert Curves(series, headline=("d",)).shown() == ["b", "a"]


def test_a_line_is_broken_where_a_value_is_not_a_number():
    values = [(1, 0.1), (2, 0.2), (3, math.nan), (4, 0.4), (5, math.inf), (6, 0.6)]
    figure = picture([Curves({"val/accuracy": values}, headline=("accuracy",))])
    segments = collection(figure, "curve 1").get_segments()
    assert sorted(len(segment) for segment in segments) == [2, 2], "the sign of the legend, and steps 1 to 2"
    assert len(shapes(figure, "points")) == 4, "single points are visible too"
    nothing = picture([Curves({"val/accuracy": [(1, math.nan)], "train/loss": [(1, math.inf)]})])
    assert texts(nothing).count("no finite values") == 2
    assert "loss" not in texts(picture([Curves({"val/accuracy": [(1, 0.5)]})])), "a task may have no loss"


def test_a_loss_that_falls_far_has_a_logarithmic_axis():
    far, near = [(1, 100.0), (2, 0.01)], [(1, 100.0), (2, 10.0)]
    assert "loss (logarithmic)" in texts(picture([Curves({"train/loss": far})]))
    assert "loss" in texts(picture([Curves({"train/loss": near})]))
    assert "loss" in texts(picture([Curves({"train/loss": [*far, (3, 0.0)]})])), "zero has no logarithm"


def test_runs_have_a_number_a_name_and_a_colour_each():
    runs = [Curves({**RUN, "val/accuracy": [(3, 0.5), (9, 0.5 + n / 10)]}, f"lr={n}", ("accuracy",)) for n in (1, 2)]
    figure = picture(runs)
    assert {"1  lr=1", "2  lr=2", "training loss", "accuracy", "learning rate"} <= {*texts(figure)}
    assert "validation loss" not in texts(figure), "no run has one"
    for kind in ("curve 1", "curve 2"):
        assert len(collection(figure, kind).get_segments()) == 4, "a sign in the legend and a line in each plot"


@given(st.lists(st.floats(0, 200), min_size=1, max_size=12))
def test_numbers_at_the_ends_of_lines_do_not_cover_each_other(heights):
    placed = sorted(spread([(y, number) for number, y in enumerate(heights)], 200.0))
    assert {number for _, number in placed} == {*range(len(heights))}
    assert all(b - a >= 10.99 for (a, _), (b, _) in pairwise(placed)) and placed[-1][0] <= 200
    if len(heights) == 1:
        assert placed[0][0] == heights[0]


def test_plots_do_not_cover_each_other_and_a_page_can_point_at_the_best():
    sheet = drawing([Curves(RUN, headline=("accuracy",), modes={"accuracy": "max"})], for_page=True)
    assert sheet.width == 2 * WIDTH + 26 and sheet.height == 2 * (HEIGHT + 26)
    (spot,) = sheet.spots
    assert spot.facts == ["best 0.875", "step 6"] and WIDTH < spot.x < sheet.width and spot.y < HEIGHT
    assert all(0 <= label.x <= sheet.width and 0 <= label.y <= sheet.height for label in sheet.labels)


def test_colours_of_runs_are_readable_on_every_ground():
    colours = THEME["colours"]
    for screen, ground in ((0, "page"), (1, "card"), (2, "card")):
        for number in range(1, COLOURS + 1):
            assert contrast(rgb(colours[f"series{number}"][screen]), rgb(colours[ground][screen])) >= 4.5
