"""Handwriting of your own: JSON lines of strokes, with texts or without: `data=lines`."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Required, Unpack

from zoo.arguments import Count
from zoo.data.corpus import OwnFiles
from zoo.data.rows import BadRows, json_rows, line_of, visible
from zoo.data.sources import SPLITS, Source, file_source, find_splits
from zoo.data.strokes.module import StrokeData
from zoo.data.strokes.points import StrokeRow, UnusableStrokes, strokes_of
from zoo.data.table_data import TableArguments
from zoo.values import hold

NOUN = "lines"
SUFFIXES = (".jsonl", ".ndjson")


class OwnLineArguments(TableArguments, total=False):
    """The arguments of `OwnLines`."""

    path: Required[str]


class OwnLines(OwnFiles, StrokeData):
    """Lines from `path`. Splits without a file of their own are drawn by `split.seed`."""

    name = "lines"
    layout = (
        'a .jsonl file with an object {"strokes": [[[x,y],...],...], "text": "..."} per line (text is optional), or a '
        "folder with train.jsonl and perhaps val.jsonl and test.jsonl"
    )

    def __init__(self, **rest: Unpack[OwnLineArguments]) -> None:
        """`path` is the file or folder."""
        super().__init__(**rest)

    def open_files(self, path: Path) -> Source | None:
        files = _files(path)
        return file_source(path, files, _lines, NOUN) if files else None


class QuickDrawArguments(TableArguments, total=False):
    """The arguments of `QuickDraw` besides `most`."""

    path: Required[str]


class QuickDraw(OwnFiles, StrokeData):
    """Drawings of Quick, Draw! (https://github.com/googlecreativelab/quickdraw-dataset, CC BY 4.0), raw or simplified.
    They have no text."""

    name = "quickdraw"
    layout = "a .ndjson file of drawings, such as cat.ndjson, or a folder of them"

    def __init__(self, *, most: Count | None = None, **rest: Unpack[QuickDrawArguments]) -> None:
        """`most` is the number of drawings that are read of each file, the first ones; None: all."""
        hold("data.most", most, Count | None)
        super().__init__(**rest)
        self.most = most

    def open_files(self, path: Path) -> Source | None:
        files = visible(path, "*.ndjson") if path.is_dir() else [path]
        if not files or (path.is_file() and path.suffix.lower() not in SUFFIXES):
            return None
        source = file_source(path, {"train": files}, partial(_drawings, most=self.most), "drawings")
        return Source(source.place, source.description, {**source.identity, "most": self.most}, source.splits)


def _files(path: Path) -> dict[str, list[Path]]:
    if path.is_file():
        return {"train": [path]} if path.suffix.lower() in SUFFIXES else {}
    found = find_splits(path, SUFFIXES)
    return {split: found[split] for split in SPLITS if split in found}


def _lines(path: Path, bad: BadRows) -> Iterator[StrokeRow]:
    for number, record in json_rows(path, ("strokes",), "", bad):
        place = line_of(path, number)
        text, letters = record.get("text"), record.get("letters")
        if not isinstance(text, str | None):
            bad(place, "text", f"found {str(text)[:40]!r}, expected a text")
        elif letters is not None and not _positions(letters, text):
            bad(place, "letters", f"found {str(letters)[:40]!r}, expected the position of a letter for each point")
        else:
            try:
                yield StrokeRow(f"line {number}", strokes_of(record["strokes"]), text, place, letters)
            except UnusableStrokes as error:
                bad(place, error.problem, error.detail)


def _positions(given: Any, text: str | None) -> bool:
    """Whether these are positions of letters in a text."""
    return isinstance(given, list) and all(isinstance(one, int) and 0 <= one < len(text or "") for one in given)


def _drawings(path: Path, bad: BadRows, most: int | None) -> Iterator[StrokeRow]:
    for count, (number, record) in enumerate(json_rows(path, ("drawing",), "", bad)):
        if count == most:
            return
        place, drawing = line_of(path, number), record["drawing"]
        try:
            strokes = [list(map(list, zip(*one[:2], strict=True))) for one in drawing]
        except (TypeError, ValueError):
            expected = "expected a list of strokes, each [[x,...],[y,...]] of equal length"
            bad(place, "drawing", f"found {str(drawing)[:40]!r}, {expected}")
            continue
        try:
            yield StrokeRow(f"{record.get('word', path.stem)} {number}", strokes_of(strokes), None, place)
        except UnusableStrokes as error:
            bad(place, error.problem, error.detail)
