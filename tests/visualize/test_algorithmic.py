"""Bits that were written: on the terminal, on a page, as a picture, in tables; lines that a user gives."""

from argparse import Namespace
from io import StringIO

import numpy as np
import pytest
from matplotlib.collections import PatchCollection
from rich.console import Console

from tests.visualize.bits import COPY, MEMORY, prediction, wide
from tests.visualize.test_document_page import Page
from zoo.data.bits.encoding import BitLine
from zoo.errors import ConfigError
from zoo.tasks.algorithmic import ExaminedBits
from zoo.visualize.algorithmic import AlgorithmicView
from zoo.visualize.bits_memory import memory_at_the_end, panels, rows_in_use
from zoo.visualize.bits_picture import bits_figure
from zoo.visualize.bits_text import BitsText, verdict, wrong_letters

VIEW = AlgorithmicView()


# terminal


def test_wrong_bits_have_a_mark_below_them():
    assert str(BitsText(COPY)) == "11 01\n ^\n1 of 4 bits are wrong\n"
    right = prediction(written=("10", "01"), probabilities=COPY.targets)
    assert str(BitsText(right)) == "10 01\nall 4 bits are right\n"
    assert str(BitsText(prediction(truth=None, targets=None))) == "11 01\n"


def test_where_there_is_colour_there_are_no_marks():
    console = Console(file=StringIO(), width=100, force_terminal=True, color_system="truecolor")
    console.print(VIEW.terminal(COPY, 0, Namespace()))
    text = console.file.getvalue()
    assert "^" not in text and "\x1b[1;4;31m1\x1b[0m" in text


def test_long_lines_are_broken_between_words_and_the_marks_follow():
    """Thirty-three words of two letters and a blank fill a line but for one place; all are wrong in their second."""
    many = prediction(written=("11",) * 40, truth=("10",) * 40)
    lines = str(BitsText(many)).splitlines()
    assert lines[0] == " ".join(["11"] * 33) and lines[1] == " ".join([" ^"] * 33)
    assert lines[2] == " ".join(["11"] * 7) and lines[3] == " ".join([" ^"] * 7)
    bits = prediction(written=("1",) * 120, truth=("1",) * 119 + ("0",), separator="")
    assert [len(line) for line in str(BitsText(bits)).splitlines()[:3]] == [100, 20, 20]


def test_which_letters_are_wrong():
    assert wrong_letters("1011", "1001") == [False, False, True, False]
    assert wrong_letters("end", "10") == [True] * 3  # a word of another kind
    assert verdict(prediction(targets=None)) == ""


# what is shown of a memory


def test_a_panel_for_each_head_and_each_kind():
    found = panels(prediction(memory=MEMORY))
    assert [panel.name for panel in found] == ["erase", "add", "write", "read 1", "read 2"]
    shapes = [panel.values.shape for panel in found]
    assert shapes == [(2, 5), (2, 5), (5, 5), (5, 5), (5, 5)]
    assert found[1].values[0, 0] == -2 and found[2].values[3, 3] == 0.75
    assert panels(COPY) == [] and memory_at_the_end(COPY) is None
    np.testing.assert_array_equal(memory_at_the_end(prediction(memory=MEMORY)).values, MEMORY["memory"])
    (only,) = panels(prediction(memory={"add": MEMORY["add"]}))
    assert only.name == "add"


def test_of_a_large_memory_the_rows_in_use_are_shown():
    assert rows_in_use(wide(128)) == [7, 8, 9] and rows_in_use(wide(64)) == [*range(64)]
    for panel in (*panels(wide(128)), memory_at_the_end(wide(128))):
        assert len(panel.values) == 3 and panel.rows == [7, 8, 9]
    for used, rows in (([0, 126], [126, 127, 0]), ([0, 30, 100], [*range(100, 128), *range(31)]), ([5], [5])):
        weights = np.zeros((1, 2, 128))
        weights[0, 0, used] = 0.5
        assert rows_in_use(prediction(memory={"write": weights})) == rows  # behind the last comes the first
    assert rows_in_use(prediction(memory={"write": np.full((1, 2, 128), 0.5)})) == [*range(128)]
    assert rows_in_use(prediction(memory={"write": np.zeros((1, 2, 128))})) == [*range(128)]


# picture


def drawn(figure):
    """What each panel shows, by its label or title."""
    return {axes.get_ylabel() or axes.get_title(): axes for axes in figure.axes}


def values(axes):
    return np.ma.filled(axes.images[0].get_array().astype(float), np.nan)


def test_the_picture_has_input_target_output_and_the_memory_over_time():
    figure = bits_figure(prediction(memory=MEMORY))
    found = drawn(figure)
    names = ["input", "target", "output", "erase", "add", "write", "memory at the end", "read 1", "read 2"]
    assert list(found) == names
    np.testing.assert_array_equal(values(found["input"]), COPY.inputs.T)
    nothing = [[np.nan] * 3] * 2
    np.testing.assert_array_equal(values(found["output"]), np.hstack([nothing, COPY.probabilities.T]))
    np.testing.assert_array_equal(values(found["target"]), np.hstack([nothing, COPY.targets.T]))
    np.testing.assert_array_equal(values(found["read 2"]), MEMORY["read"][1].T)
    np.testing.assert_array_equal(values(found["memory at the end"]), MEMORY["memory"])
    (frames,) = [part for part in found["output"].collections if isinstance(part, PatchCollection)]
    (frame,) = frames.get_paths()
    assert frame.get_extents().min.tolist() == [2.5, 0.5]  # step 3, bit 1
    assert [text.get_text() for text in figure.texts] == ["1 of 4 bits are wrong"]
    assert found["add"].images[0].get_clim() == (-2, 2) and found["write"].images[0].get_clim() == (0, 1)
    figure.canvas.draw()


def test_rows_of_a_large_memory_keep_their_numbers():
    found = drawn(bits_figure(wide(128)))
    for name in ("write", "memory at the end"):
        assert [label.get_text() for label in found[name].get_yticklabels()] == ["7", "8", "9"]
    assert not found["input"].get_yticklabels()


def test_a_network_without_a_memory_still_shows_what_it_wrote():
    figure = VIEW.picture(prediction(truth=None, targets=None))
    assert list(drawn(figure)) == ["input", "output"] and not figure.texts
    assert not drawn(figure)["output"].collections


# page


def test_the_page_marks_wrong_bits_and_draws_each_panel():
    html = VIEW.page([prediction(memory=MEMORY), None])
    page = Page(html)
    assert [text for _, _, text in page.find("span", "w")] == ["1"]
    assert html.count("<svg") == 9 and html.count('class="wrong"') == 1
    assert "1 sequence, 1 blank." in html and "1 of 4 bits are wrong" in html and "(blank)" in html
    weightings = [attributes["fill-opacity"] for _, attributes, _ in page.find("rect", "weighting")]
    assert weightings == ["0.750"] * 5 + ["1.000"] * 10
    assert [attributes["fill-opacity"] for _, attributes, _ in page.find("rect", "n")] == ["1.000"]  # -2 of 2


def test_a_page_without_memory_and_truth():
    html = VIEW.page([prediction(truth=None, targets=None)])
    assert html.count("<svg") == 2 and "wrong" not in html[html.index("</style>") :]


# tables


def test_rows():
    assert VIEW.row(COPY) == ["10 01", "11 01", 1]
    examined = ExaminedBits(4, COPY, "10 01")
    assert dict(zip(VIEW.examined_columns(), VIEW.examined_row(examined), strict=True)) == {
        "index": 4,
        "sequence": "10 01",
        "true": "10 01",
        "written": "11 01",
        "error bits": 1,
    }
    assert VIEW.row(prediction(truth=None, targets=None))[-1] == ""
    assert VIEW.as_json(COPY)["written"] == "11 01"


def test_lines_know_their_place(tmp_path):
    file = tmp_path / "patterns.txt"
    file.write_text("10 01\n\n11\n")
    assert VIEW.read(["01"], file) == [
        BitLine("01", "line 1"),
        BitLine("10 01", "line 2"),
        None,
        BitLine("11", "line 4"),
    ]
    with pytest.raises(ConfigError, match=r"is a file: give --file .*patterns.txt, which reads it, a sequence a line"):
        VIEW.read([str(file)], None)
