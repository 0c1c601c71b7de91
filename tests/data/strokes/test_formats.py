"""Lines of strokes from files: JSON lines, Quick, Draw! and IAM-OnDB, and the error of each kind of bad file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data.serving import prepared, written
from zoo.data.rows import BadRows
from zoo.data.strokes.given import read_given
from zoo.data.strokes.iam_ondb import IamOnDB
from zoo.data.strokes.own import OwnLines, QuickDraw
from zoo.errors import ConfigError, DataError, UnusableInput
from zoo.tasks.stroke_baselines import independent_points

LINE = [[[0, 0], [3, 4]], [[5, 4], [5, 2]]]
Rows = dict[str, list[tuple[str, str | None, list[Any]]]]


def found(data: Any) -> Rows:
    """The rows of each split: name, text and strokes, whose y grows upwards."""
    return {
        split: [(row.name, row.text, [stroke.tolist() for stroke in row.strokes]) for row in read(BadRows())]
        for split, read in data.open_source().splits.items()
    }


def json_lines(path: Path, *records: Any) -> Path:
    return written(path, "\n".join(one if isinstance(one, str) else json.dumps(one) for one in records))


def test_json_lines_of_your_own(tmp_path: Path, cache_dir: Path) -> None:
    records = [{"strokes": LINE, "text": f"a  {letter}"} for letter in "abcdefghij"]
    path = json_lines(tmp_path / "all.jsonl", *records)
    assert found(OwnLines(path=str(path)))["train"][0] == ("line 1", "a  a", [[[0, 0], [3, -4]], [[5, -4], [5, -2]]])
    data = prepared(OwnLines(path=str(path)))
    assert data.sizes == {"train": 8, "val": 1, "test": 1} and data.spec.lines == 8
    # offsets (3, -4), (2, 0), (0, 2): mean 5/3 and -2/3
    deviation = np.std([[3, -4], [2, 0], [0, 2]], 0)
    np.testing.assert_allclose(data.encoder.mean, [5 / 3, -2 / 3], rtol=1e-6)
    np.testing.assert_allclose(data.encoder.scale, deviation, rtol=1e-6)
    (batch,) = data.test_dataloader()
    np.testing.assert_allclose(batch.points[0, 0, :2], ([3, -4] - np.array([5 / 3, -2 / 3])) / deviation, rtol=1e-5)
    assert batch.points[0, :, 2].tolist() == [1, 0, 1] and batch.about[0].text.startswith("a ")
    folder = tmp_path / "folder"
    for split in ("train", "valid"):
        json_lines(folder / f"{split}.jsonl", {"strokes": LINE, "text": split})
    assert {split: rows[0][1] for split, rows in found(OwnLines(path=str(folder))).items()} == {
        "train": "train",
        "val": "valid",
    }


def test_a_pen_that_moves_along_one_line_has_a_baseline(tmp_path: Path, cache_dir: Path) -> None:
    """Its coordinates are perfectly correlated."""
    lines = [{"strokes": [[[n, n], [n + 1, n + 1], [0, 0]]]} for n in range(1, 11)]
    scores = independent_points(prepared(OwnLines(path=str(json_lines(tmp_path / "all.jsonl", *lines)))))
    assert np.isfinite(list(scores.values())).all()


def test_lines_without_text_have_no_letters(tmp_path: Path, cache_dir: Path) -> None:
    path = json_lines(tmp_path / "all.jsonl", *[{"strokes": LINE}] * 10)
    data = prepared(OwnLines(path=str(path)))
    assert data.spec.symbols == 0 and "no text" in data.contents(data.describe())
    (batch,) = data.val_dataloader()
    assert batch.text is None and batch.point_mask.sum() == 3
    with pytest.raises(UnusableInput, match="had no text"):
        data.encoder(["a"])


DOT, EMPTY, TEXT = [[[1, 2]]], [], [[[0, 0], ["a", 1]]]


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"strokes": DOT, "text": "a"}, "a single point: a line needs two points or more"),
        ({"strokes": EMPTY, "text": "a"}, r"no strokes: found '\[\]', expected a list of strokes"),
        ({"strokes": TEXT, "text": "a"}, "stroke 1: found .*'a', 1.*, expected a list of points"),
        ({"strokes": [[[0, 0], [1, float("inf")]]], "text": "a"}, "stroke 1: a number is not finite"),
        ({"strokes": LINE, "text": " "}, "text: found an empty one, expected a text as in other lines"),
        ({"strokes": LINE}, "text: found none, expected a text as in other lines"),
        ({"strokes": LINE, "text": 3}, "text: found '3', expected a text"),
        ({"strokes": LINE, "text": "a", "letters": [0, 0]}, "letters: found 2 positions of letters, expected one per"),
        ({"strokes": LINE, "text": "a", "letters": [7] * 4}, "letters: found .* expected the position of a letter"),
        ({"points": LINE}, "missing column: no column 'strokes'; found: 'points'"),
        ('{"strokes": [[0', "not json"),
        ("[1]", "not a json object"),
    ],
)
def test_a_bad_line_is_named(record: Any, problem: str, tmp_path: Path, cache_dir: Path) -> None:
    path = json_lines(tmp_path / "all.jsonl", {"strokes": LINE, "text": "a"}, record)
    with pytest.raises(DataError, match=rf"all\.jsonl, line 2: {problem}"):
        OwnLines(path=str(path)).prepare_data()


def test_a_dot_at_the_begin_of_a_longer_line_is_kept(tmp_path: Path, cache_dir: Path) -> None:
    lines = [{"strokes": [[[7, 8]], *LINE], "text": "ia", "letters": [0, 1, 1, 1, 1]}] * 10
    data = prepared(OwnLines(path=str(json_lines(tmp_path / "all.jsonl", *lines))))
    (batch,) = data.test_dataloader()
    assert batch.points[0, :, 2].tolist() == [1, 0, 1, 0, 1] and batch.letters[0].tolist() == [0, 1, 1, 1, 1]


def test_another_path_is_refused(tmp_path: Path) -> None:
    for make in (OwnLines, QuickDraw):
        path = written(tmp_path / "lines.csv", "a,b")
        with pytest.raises(DataError, match=r"lines\.csv: this file has another form; expected: a \.\w+ file"):
            make(path=str(path)).open_source()
        with pytest.raises(DataError, match="No such file"):
            make(path=str(tmp_path / "missing.ndjson")).open_source()


def test_drawings(tmp_path: Path, cache_dir: Path) -> None:
    """Simplified ones have two lists per stroke, raw ones also the times."""
    simple, raw = [[[0, 3], [0, 4]], [[5, 5], [4, 2]]], [[[0, 3], [0, 4], [0, 9]], [[5, 5], [4, 2], [20, 30]]]
    path = json_lines(tmp_path / "cat.ndjson", *[{"word": "cat", "drawing": one} for one in (simple, raw) * 5])
    rows = found(QuickDraw(path=str(path)))["train"]
    assert rows[0] == ("cat 1", None, [[[0, 0], [3, -4]], [[5, -4], [5, -2]]]) and rows[1][2] == rows[0][2]
    assert len(found(QuickDraw(path=str(tmp_path), most=3))["train"]) == 3
    with pytest.raises(ConfigError, match=r"data\.most=0: expected a whole number from 1 on"):
        QuickDraw(path=str(path), most=0)
    json_lines(path, {"word": "cat", "drawing": [[[0, 3], [0]]]})
    with pytest.raises(DataError, match=r"cat\.ndjson, line 1: drawing: found .* each \[\[x,\.\.\.\],\[y,\.\.\.\]\]"):
        found(QuickDraw(path=str(path)))


# IAM-OnDB

XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<WhiteboardCaptureSession>
<WhiteboardDescription><SensorLocation corner="top_left"/></WhiteboardDescription>
<StrokeSet>
<Stroke colour="black" start_time="1.0"><Point x="10" y="20" time="1.0"/><Point x="13" y="24" time="1.1"/>
</Stroke>
<Stroke colour="black" start_time="2.0" end_time="3.0"><Point x="15" y="20" time="2.0"/></Stroke>
</StrokeSet>
</WhiteboardCaptureSession>
"""


def iam(root: Path, forms: dict[str, list[str]], *, lines: int | None = None) -> Path:
    """Forms with a line of strokes for each text, or for the first `lines`."""
    for form, texts in forms.items():
        folder = Path(form[:3]) / form[:7]
        for number in range(1, len(texts if lines is None else texts[:lines]) + 1):
            written(root / "lineStrokes" / folder / f"{form}-{number:02d}.xml", XML)
        written(root / "ascii" / folder / f"{form}.txt", "OCR:\n\nwrong\n\nCSR:\n\n" + "\n".join(texts) + "\n")
    return root


def test_the_official_files(tmp_path: Path, cache_dir: Path) -> None:
    root = iam(tmp_path, {"a01-000u": ["By Trevor Williams.", "A move"], "b02-010z": ["to stop", "Mr."]})
    rows = found(IamOnDB(source=str(root)))["train"]
    assert [row[:2] for row in rows] == [
        ("a01-000u-01", "By Trevor Williams."),
        ("a01-000u-02", "A move"),
        ("b02-010z-01", "to stop"),
        ("b02-010z-02", "Mr."),
    ]
    assert rows[0][2] == [[[10, -20], [13, -24]], [[15, -20]]]
    written(root / "trainset.txt", "a01-000u\n")
    written(root / "testset_v.txt", "b02-010z\n")
    lists = {"train": ["trainset.txt"], "val": ["testset_v.txt"]}
    splits = found(IamOnDB(source=str(root), lists=lists))
    assert {split: [row[0] for row in rows] for split, rows in splits.items()} == {
        "train": ["a01-000u-01", "a01-000u-02"],
        "val": ["b02-010z-01", "b02-010z-02"],
    }
    with pytest.raises(DataError, match=r"other\.txt: no such list .* in the folder: testset_v\.txt, trainset\.txt"):
        IamOnDB(source=str(root), lists={"train": ["other.txt"]}).open_source()
    with pytest.raises(DataError, match=r"data\.lists\.train is empty"):
        IamOnDB(source=str(root), lists={"val": ["testset_v.txt"]}).open_source()


def text_of(root: Path) -> Path:
    return root / "ascii/a01/a01-000/a01-000u.txt"


def strokes_of(root: Path) -> Path:
    return root / "lineStrokes/a01/a01-000/a01-000u-01.xml"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda root: text_of(root).unlink(), r"no transcript: no file .*a01-000u\.txt, expected the text of line 01"),
        (
            lambda root: text_of(root).write_text("CSR:\n\n"),
            "no transcript: .* has 0 lines after CSR:, expected the te",
        ),
        (lambda root: strokes_of(root).write_text(XML[:300]), "not xml: .*: line 7, column .*; copy the file again"),
        (lambda root: strokes_of(root).write_text("<a/>"), "no StrokeSet: found <a>, expected StrokeSet/Stroke/Point"),
        (lambda root: strokes_of(root).write_text(XML.replace('x="10"', 'x="ten"')), "a point: found .*'ten'"),
        (lambda root: strokes_of(root).write_text(XML.replace(' x="10"', "")), "a point: found 'x'"),
    ],
)
def test_a_damaged_corpus_is_named(damage: Callable[[Path], Any], problem: str, tmp_path: Path) -> None:
    root = iam(tmp_path, {"a01-000u": ["By Trevor"]})
    damage(root)
    with pytest.raises(DataError, match=rf"a01-000u-01\.xml: {problem}"):
        found(IamOnDB(source=str(root)))


def test_a_missing_corpus_says_where_to_register(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"non-commercial research only, after a registration: https://fki"):
        IamOnDB(source=str(tmp_path)).open_source()
    with pytest.raises(ConfigError, match="not on the Hugging Face hub"):
        IamOnDB(source="hub").open_source()


# Given strokes


def test_given_strokes(tmp_path: Path) -> None:
    path = written(tmp_path / "hand.json", json.dumps({"text": "ab", "strokes": LINE, "finished": True}))
    strokes, text = read_given(path)
    assert text == "ab" and strokes[0].tolist() == [[0, 0], [3, -4]]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not json"),
        ("[]", r"found '\[\]', expected \{\"strokes\""),
        ('{"strokes": 3}', "no strokes: found '3'"),
        ('{"strokes": [[[0, 0]]], "text": 3}', "text: found '3'"),
        (b"\xff\xfe", "not UTF-8"),
        (None, "cannot be read: No such file"),
    ],
)
def test_bad_given_strokes_are_named(content: str | bytes | None, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "hand.json"
    if content is not None:
        written(path, content)
    with pytest.raises(UnusableInput, match=rf"hand\.json: {problem}"):
        read_given(path)
