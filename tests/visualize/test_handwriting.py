"""The view of handwriting: SVG that writes itself, pages, pictures, dots on a terminal."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.visualize.reading import EVIL, Page
from zoo.predicting.handwriting import ExaminedLine, HandwritingPrediction
from zoo.visualize.handwriting import HandwritingView
from zoo.visualize.strokes import HandwrittenLine, dots, drawn, svg

SVG = "{http://www.w3.org/2000/svg}"
WINDOW = np.array([[0.9, 0.1], [0.8, 0.3], [0.1, 0.7], [0.0, 2.0]], np.float32)
STROKES = (np.array([[0.0, 0.0], [0.0, 4.0], [2.0, 4.0]]), np.array([[3.0, 2.0], [4.0, 0.0]]))


def line(**changes: Any) -> HandwritingPrediction:
    return replace(HandwritingPrediction("ab", STROKES, 0, WINDOW, True), **changes)


def test_a_file_writes_its_strokes_one_after_the_other() -> None:
    root = ET.fromstring(svg([line(), line(text="b", window=WINDOW[:, :1])]))
    strokes = root.findall(f".//{SVG}polyline")
    assert len(strokes) == 4 and all(one.get("pathLength") == "1" for one in strokes)
    begins, lasting = (
        [float(re.search(rf"--{name}:([\d.]+)s", one.get("style", "")).group(1)) for one in strokes]  # type: ignore[union-attr]
        for name in "bd"
    )
    assert all(begins[n] + lasting[n] <= begins[n + 1] + 1e-9 for n in range(3))
    assert "var(--ink" not in "".join(one.get("style", "") for one in root.iter()), "other programs know no variables"
    points = [[float(part) for part in pair.split(",")] for pair in strokes[0].get("points", "").split()]
    assert points[0][0] == points[1][0] and points[1][1] < points[0][1], "y grows upwards"
    across, up = points[2][0] - points[1][0], points[0][1] - points[1][1]
    assert up == pytest.approx(2 * across, abs=0.2), "the drawing is stretched"


def test_the_window_is_dark_where_it_looked_and_letters_stand_below() -> None:
    sheet, strokes = drawn(HandwrittenLine(line(), letters=(0, 0, 1, 1)))
    (raster,) = sheet.rasters
    np.testing.assert_allclose(raster.values, (WINDOW / WINDOW.max(1, keepdims=True)).T)
    assert [label.text for label in sheet.labels] == ["a", "b", "a", "b"]  # beside the rows, and under the line
    assert len(sheet.shapes["true"]) == 2 and [one.kind for one in strokes] == ["pen", "pen"]
    below = [label for label in sheet.labels if label.side == "center"]
    assert below[0].x < below[1].x and all(label.y > strokes[0].points[0][1] for label in below)


def test_given_strokes_are_grey_and_dots_are_seen() -> None:
    dotted = (*STROKES, np.array([[5.0, 5.0]]))
    _, strokes = drawn(HandwrittenLine(line(strokes=dotted, given=2, window=None)))
    assert [one.kind for one in strokes] == ["given pen", "pen", "pen"]
    assert len(strokes[2].points) == 2


def test_a_page_has_no_script_and_escapes_texts() -> None:
    view = HandwritingView()
    for evil in EVIL:
        text = Page(view.page([line(text=evil, window=np.ones((4, len(evil)), np.float32))]))
        assert not text.find("script")
    page = view.page([line()])
    assert "ended by the stop rule" in page and page.count("<polyline") == 2 and "animation" in page
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert "script" not in policy
    assert "did not end it" in view.page([line(finished=False)])


def test_an_examined_line_says_how_often_the_window_was_right() -> None:
    view, examined = HandwritingView(), ExaminedLine(3, line(nats=-12.5, given=4), "ab", (0, 0, 0, 1))
    head = view.blocks(examined.prediction, examined)[0]
    assert "75% of the points at their letter" in head.under and "-12.50 nats" in head.under  # type: ignore[attr-defined]
    assert view.examined_row(examined) == [3, "ab", "ab", 4, 2, -12.5]
    assert view.picture(examined.prediction, examined) is not None


def test_a_terminal_shows_the_line_in_dots() -> None:
    rows = dots(line(), 20)
    assert rows and all(set(row) <= set(map(chr, range(0x2800, 0x2900))) for row in rows)
    assert max(map(len, rows)) <= 10
    assert rows[0][0] != chr(0x2800), "the first stroke is a line upwards at the left"


def test_plain_data_can_be_given_again() -> None:
    found = line().to_dict()
    assert found["strokes"][0] == [[0.0, 0.0], [0.0, -4.0], [2.0, -4.0]] and found["letters"] == [0, 0, 1, 1]
    assert found["text"] == "ab" and found["finished"] is True and np.shape(found["window"]) == (4, 2)
