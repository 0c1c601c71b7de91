"""The view of algorithmic tasks: wrong bits, the panels of a memory, tables, and lines that a user gives."""

import numpy as np
import pytest

from tests.visualize.bits import COPY, MEMORY, prediction, wide
from tests.visualize.reading import Page, shapes, texts
from zoo.data.bits.encoding import BitLine
from zoo.predicting.algorithmic import ExaminedBits
from zoo.visualize.algorithmic import AlgorithmicView, bits_drawing, panels, rows_in_use, wrong_letters

VIEW = AlgorithmicView()


def test_which_letters_are_wrong_and_the_row():
    assert wrong_letters(prediction(written=("1011", "1"), truth=("1001", "1"))) == [*[False] * 2, True, *[False] * 3]
    assert wrong_letters(prediction(written=("end",), truth=("10",))) == [True] * 3  # a word of another kind
    assert wrong_letters(prediction(truth=None)) == [False] * 5
    assert VIEW.blocks(prediction(targets=None))[0].verdict == ""
    assert VIEW.examined_row(ExaminedBits(4, COPY, "10 01")) == [4, "10 01", "10 01", "11 01", 1]
    assert VIEW.examined_columns() == ["index", "sequence", "true", "written", "error bits"]
    assert VIEW.row(prediction(truth=None, targets=None))[-1] == ""


# what is shown of a memory


def test_a_panel_for_each_head_and_each_kind():
    found = panels(prediction(memory=MEMORY))
    assert [panel.name for panel in found] == ["erase", "add", "write", "read 1", "read 2", "memory at the end"]
    shapes = [panel.values.shape for panel in found]
    assert shapes == [(2, 5), (2, 5), (5, 5), (5, 5), (5, 5), (5, 2)]
    assert found[1].values[0, 0] == -2 and found[2].values[3, 3] == 0.75
    assert panels(COPY) == []
    np.testing.assert_array_equal(found[-1].values, MEMORY["memory"])
    (only,) = panels(prediction(memory={"add": MEMORY["add"]}))
    assert only.name == "add"


def test_of_a_large_memory_the_rows_in_use_are_shown():
    assert rows_in_use(wide(128)) == [7, 8, 9] and rows_in_use(wide(64)) == [*range(64)]
    for panel in panels(wide(128)):
        assert len(panel.values) == 3 and panel.rows == [7, 8, 9]
    for used, rows in (([0, 126], [126, 127, 0]), ([0, 30, 100], [*range(100, 128), *range(31)]), ([5], [5])):
        weights = np.zeros((1, 2, 128))
        weights[0, 0, used] = 0.5
        assert rows_in_use(prediction(memory={"write": weights})) == rows  # the first row follows the last
    assert rows_in_use(prediction(memory={"write": np.full((1, 2, 128), 0.5)})) == [*range(128)]
    assert rows_in_use(prediction(memory={"write": np.zeros((1, 2, 128))})) == [*range(128)]


# drawing


def drawn(said):
    """The cells of each panel by its name, from the top to the bottom."""
    drawing = bits_drawing(said)
    names = [label for label in drawing.labels if label.size == 11.3]
    found = {}
    for cells in drawing.rasters:
        near = min(names, key=lambda label: abs(label.y - cells.top - cells.height / 2) + 99 * (label.x > cells.left))
        found[near.text if near.text not in found else "memory at the end"] = cells
    return drawing, found


def test_panels_show_input_target_output_and_the_memory_over_time():
    drawing, found = drawn(prediction(memory=MEMORY))
    names = ["input", "target", "output", "erase", "add", "write", "memory at the end", "read 1", "read 2"]
    assert list(found) == names
    np.testing.assert_array_equal(found["input"].values, COPY.inputs.T)
    nothing = [[np.nan] * 3] * 2
    np.testing.assert_array_equal(found["output"].values, np.hstack([nothing, COPY.probabilities.T]))
    np.testing.assert_array_equal(found["target"].values, np.hstack([nothing, COPY.targets.T]))
    np.testing.assert_array_equal(found["read 2"].values, MEMORY["read"][1].T)
    np.testing.assert_array_equal(found["memory at the end"].values, MEMORY["memory"])
    assert (found["add"].most, found["add"].signed) == (2, True)
    assert (found["write"].most, found["write"].signed) == (1, False)
    tops = [found[name].top for name in names if name != "memory at the end"]
    assert tops == sorted(tops) and len({found[name].left for name in names}) == 2
    (frame,) = drawing.shapes["wrong"]  # step 3, bit 1
    (x, y), output = frame.points[0], found["output"]
    assert (x - output.left) // (output.width / 5) == 3 and (y - output.top) // (output.height / 2) == 1


def test_steps_and_rows_count_from_one():
    drawing, _ = drawn(wide(128))
    numbers = [label.text for label in drawing.labels if label.text.isdigit()]
    assert numbers == ["8", "9", "10"] * 3 + ["1", "2", "3", "4", "5"], "rows of write, read and memory; steps"


@pytest.mark.parametrize("steps", [7, 241])
def test_a_sequence_of_any_length_fills_the_page(steps):
    """Seven steps were 57 of 980 pixels once."""
    bits = np.zeros((steps, 3))
    scored, written = np.full(steps, True), ("0",) * steps
    said = prediction(inputs=bits, scored=scored, probabilities=bits, targets=None, written=written, truth=None)
    drawing, found = drawn(said)
    assert 230 <= found["input"].width <= 1200 and drawing.width >= found["input"].width


def test_pictures_and_pages_have_what_was_written():
    figure = VIEW.picture(prediction(memory=MEMORY))
    assert {"11 01", "10 01", "✗ 1 of 4 bits are wrong", "read 2", "wrong bit"} <= set(texts(figure))
    assert len(shapes(figure, "wrong")) == 1 + 1  # and the sample in the key
    html = VIEW.page([prediction(memory=MEMORY), None])
    made = Page(html)
    assert made.texts("span", "wrong")[0] == "1" and "1 of 4 bits are wrong ✗" in made.texts("span", "wrong")
    assert "1 sequence, 1 blank." in html and "(blank)" in html
    opacities = [float(about["fill-opacity"]) for _, about, _ in made.find("rect") if "fill-opacity" in about]
    assert 0.75 in opacities and max(opacities) == 1
    bare = prediction(truth=None, targets=None)
    assert "wrong" not in VIEW.page([bare])[len(html[: html.index("</style>")]) :]
    assert shapes(VIEW.picture(bare), "wrong") == []


# tables


def test_lines_know_their_place(tmp_path):
    (file := tmp_path / "patterns.txt").write_text("10 01\n\n11\n")
    first, second, blank, last = VIEW.read(["01"], file)
    assert (first, second) == (BitLine("01", "line 1"), BitLine("10 01", "line 2"))
    assert (blank, last) == (None, BitLine("11", "line 4"))
