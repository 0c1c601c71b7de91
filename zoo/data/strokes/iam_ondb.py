"""IAM-OnDB, in the files in which it is distributed.

Liwicki and Bunke 2005, https://doi.org/10.1109/ICDAR.2005.132: 13,049 lines of 221 writers on a whiteboard. It is only
for non-commercial research, and its site requires a registration: https://fki.tic.heia-fr.ch/databases. The benchmark
IAM-OnDB-t1 lists forms for training (trainset.txt), for two validations (testset_v.txt, testset_t.txt) and for the test
(testset_f.txt).
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from zoo.data.corpus import Corpus, CorpusArguments
from zoo.data.rows import BadRows, Lines, decode_file, reading, visible
from zoo.data.sources import SPLITS, Source, folder_identity, identity, path_source
from zoo.data.strokes.generated import letter_source
from zoo.data.strokes.module import StrokeData
from zoo.data.strokes.options import ListOptions
from zoo.data.strokes.points import StrokeRow, UnusableStrokes, strokes_of
from zoo.errors import DataError

TEXT = "CSR:"  # The mark before the lines of a form in its text file


class IamOnDB(Corpus, StrokeData):
    """Lines of handwriting. `source` is `sample`, or the path of the folder with lineStrokes and ascii."""

    name = "iam_ondb"
    on_hub = False
    layout = (
        "the folder with lineStrokes/a01/a01-000/a01-000u-01.xml and so on, and ascii/a01/a01-000/a01-000u.txt "
        "(non-commercial research only, after a registration: https://fki.tic.heia-fr.ch/databases)"
    )

    def __init__(
        self, *, lists: Mapping[str, Any] | ListOptions | None = None, **rest: Unpack[CorpusArguments]
    ) -> None:
        """`lists` names the lists of forms of each split, see `ListOptions`."""
        super().__init__(**rest)
        self.lists = ListOptions.of(lists)

    def open_sample(self) -> Source:
        return letter_source(self.sample)

    def open_files(self, path: Path) -> Source | None:
        strokes, texts = path / "lineStrokes", path / "ascii"
        if not (strokes.is_dir() and texts.is_dir()):
            return None
        folders = [folder for group in visible(strokes) for folder in visible(group) if folder.is_dir()]
        files = [file for folder in folders for file in visible(folder, "*.xml")]
        if not files:
            return None
        named = {split: [self._list(path, name) for name in getattr(self.lists, split)] for split in SPLITS}
        if any(named.values()) and not named["train"]:
            raise DataError(f"{path}: data.lists.train is empty and others are not; name the lists of training forms")
        if not named["train"]:
            splits = {"train": partial(_rows, texts, files)}
        else:
            splits = {split: partial(_listed, texts, files, some) for split, some in named.items() if some}
        lists = {split: [identity(file) for file in some] for split, some in named.items()}
        return path_source(
            path, "lines", splits, folders=[folder_identity(one, ".xml") for one in folders], lists=lists
        )

    def _list(self, path: Path, name: str) -> Path:
        if not (path / name).is_file():
            there = ", ".join(file.name for file in visible(path, "*.txt")) or "none"
            raise DataError(f"{path / name}: no such list (data.lists); lists in the folder: {there}")
        return path / name


def _listed(texts: Path, files: Sequence[Path], lists: Sequence[Path], bad: BadRows) -> Iterator[StrokeRow]:
    """The lines of the forms that some lists name."""
    forms = set[str]()
    for one in lists:
        with Lines(one, encoding=bad.encoding) as lines:
            forms |= {line.strip() for _, line in lines.decoded(bad) if line.strip()}
    yield from _rows(texts, [file for file in files if _form(file)[0] in forms], bad)


def _rows(texts: Path, files: Sequence[Path], bad: BadRows) -> Iterator[StrokeRow]:
    written: dict[Path, list[str] | None] = {}
    for file in files:
        form, number = _form(file)
        beside = texts / file.parent.parent.name / file.parent.name / f"{form}.txt"
        if beside not in written:
            written[beside] = _texts(beside, bad) if beside.is_file() else []
        found = written[beside]
        if found is None:
            continue  # reported
        if not 0 < number <= len(found):
            where = f"{beside} has {len(found)} lines after {TEXT}" if beside.is_file() else f"no file {beside}"
            bad(str(file), "no transcript", f"{where}, expected the text of line {file.stem.rpartition('-')[2]}")
            continue
        try:
            yield StrokeRow(file.stem, strokes_of(_strokes(file)), found[number - 1], str(file))
        except UnusableStrokes as error:
            bad(str(file), error.problem, error.detail)


def _form(file: Path) -> tuple[str, int]:
    """The form and the number of a line: a01-000u-03.xml -> a01-000u and 3; 0 without a number."""
    form, _, number = file.stem.rpartition("-")
    return form, int(number) if number.isdecimal() else 0


def _texts(file: Path, bad: BadRows) -> list[str] | None:
    """The lines of a form; None for a damaged file, which is reported."""
    with reading(file):
        content = decode_file(file, file.read_bytes(), bad)
    if content is None:
        return None
    return [line.strip() for line in content.partition(TEXT)[2].splitlines() if line.strip()]


def _strokes(file: Path) -> list[list[list[float]]]:
    """The points of a file. Raises UnusableStrokes for a file of another form."""
    try:
        with reading(file):
            root = ET.parse(file).getroot()
    except ET.ParseError as error:
        raise UnusableStrokes("not xml", f"{error}; copy the file again") from error
    found = root.find("StrokeSet")
    if found is None:
        raise UnusableStrokes("no StrokeSet", f"found <{root.tag}>, expected StrokeSet/Stroke/Point in it")
    try:
        return [[[float(point.attrib[axis]) for axis in "xy"] for point in stroke.iter("Point")] for stroke in found]
    except (KeyError, ValueError) as error:
        raise UnusableStrokes("a point", f"found {error}, expected Point with numbers x and y") from error
