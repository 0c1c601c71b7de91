"""Official formats of documents: each reader streams `Row`s and names file and line of whatever it cannot use."""

from __future__ import annotations

import fnmatch
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from zoo.data.readers import read_columns
from zoo.data.rows import BadRows, Lines, csv_rows, decode_file, guarded, json_rows, line_of, reading
from zoo.data.text.sentences import unescape_zhang

WHOLE = re.compile(r"(?<=\d)\.0+$")
COLUMNS_HINT = " (the keys are data.text_column and data.label_column)"
"""Of the tables of one's own, the only ones whose columns have names to choose."""


class Row(NamedTuple):
    """One document as it stands in its file."""

    text: str
    label: int | str
    """The class counted from 0 where the format fixes the classes, else its name."""
    place: str
    """File and line, for messages."""


@guarded
def read_zhang(path: Path, classes: int, bad: BadRows) -> Iterator[Row]:
    """The csv files of Zhang et al. (2015): no header; a class from 1 on, then one or more fields of text."""
    with Lines(path, encoding=bad.encoding) as lines:
        for number, fields in csv_rows(lines, ",", bad):
            place = line_of(path, number)
            label = _class_from_one(fields[0], classes)
            if len(fields) < 2:
                bad(
                    place, "too few fields", f"found {len(fields)}; a class and at least one field of text are expected"
                )
            elif label is None:
                bad(place, "label out of range", f"expected a class from 1 to {classes}, found {fields[0]!r}")
            elif not any(field.strip() for field in fields[1:]):
                bad(place, "no text")
            else:
                yield Row("\n".join(unescape_zhang(field) for field in fields[1:] if field.strip()), label, place)


def _class_from_one(value: Any, classes: int) -> int | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) - 1 if number in range(1, classes + 1) else None


@guarded
def read_yelp_json(path: Path, bad: BadRows) -> Iterator[Row]:
    """The Yelp open dataset: json lines with `stars` (1.0 to 5.0) and `text`."""
    for number, record in json_rows(path, ("stars", "text"), "", bad):
        place, text = line_of(path, number), record["text"]
        label = _class_from_one(record["stars"], 5)
        if label is None:
            bad(place, "label out of range", f"expected 1 to 5 stars, found {record['stars']!r}")
        elif not isinstance(text, str) or not text.strip():
            bad(place, "no text")
        else:
            yield Row(text, label, place)


@guarded
def read_tang(path: Path, classes: int, bad: BadRows) -> Iterator[Row]:
    """The `.ss` files of Tang et al. (2015): user, product, rating from 1 on and text, two tabs between, `<sssss>`
    between sentences."""
    with Lines(path, encoding=bad.encoding) as lines:
        for line in lines:
            place, undecodable = line_of(path, lines.number), lines.undecodable
            lines.mark()
            fields = line.rstrip("\r\n").split("\t\t", 3)
            if undecodable:
                bad(place, "not UTF-8", undecodable)
            elif len(fields) < 4:
                bad(
                    place,
                    "too few fields",
                    f"found {len(fields)}; user, product, rating and text with two tabs between are expected",
                )
            elif (label := _class_from_one(fields[2], classes)) is None:
                bad(place, "label out of range", f"expected a rating from 1 to {classes}, found {fields[2]!r}")
            elif not (text := fields[3].replace("<sssss>", "\n")).strip():
                bad(place, "no text")
            else:
                yield Row(text, label, place)


@guarded
def read_table(path: Path, text: str, label: str, bad: BadRows) -> Iterator[Row]:
    """A csv, tsv, json lines or parquet file with named columns; labels come as names.

    Raises DataError where a column is missing, with the columns that are there.
    """
    for place, found, name in read_columns(path, (text, label), COLUMNS_HINT, bad):
        if not isinstance(found, str) or not found.strip():
            bad(place, "no text", f"column {text!r} holds {found!r}" if found else "")
        elif (class_name := _class_name(name)) is None:
            bad(place, "no label", f"column {label!r} holds {name!r}")
        else:
            yield Row(found, class_name, place)


def _class_name(value: Any) -> str | None:
    """One spelling for each class: 4, 4.0 and "4 " are "4"."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or isinstance(value, list | dict):
        return None
    return WHOLE.sub("", str(value).strip()) or None


def read_class_files(names: Sequence[str], read: Callable[[str], bytes], where: Path, bad: BadRows) -> Iterator[Row]:
    """One document a text file; the name of its folder is its class. `read` gives the bytes of a name."""
    for name in names:
        place, raw = f"{where}/{name}", read(name)
        text = decode_file(place, raw, bad)
        if text is None:
            continue
        if text.strip():
            yield Row(text, Path(name).parent.name, place)
        else:
            bad(place, "no text", "the file is empty")


def class_files(path: Path) -> tuple[list[str], Callable[[str], bytes]]:
    """The text files in class folders below a folder or inside a .zip, sorted, and a function that gives their
    bytes."""
    if path.is_dir():
        names = [file.relative_to(path).as_posix() for file in path.rglob("*.txt") if file.is_file()]
        return sorted(filter(_in_class_folder, names)), partial(_read_file, path)
    with reading(path):
        archive = zipfile.ZipFile(path)
    names = [name for name in archive.namelist() if name.endswith(".txt") and _in_class_folder(name)]
    return sorted(names), partial(_read_zipped, archive)


def _in_class_folder(name: str) -> bool:
    """Whether a file is inside a folder, and neither of them is hidden or one that macOS writes."""
    parts = name.split("/")
    return len(parts) > 1 and not any(part.startswith(".") or part == "__MACOSX" for part in parts)


def _read_file(folder: Path, name: str) -> bytes:
    with reading(folder / name):
        return (folder / name).read_bytes()


def _read_zipped(archive: zipfile.ZipFile, name: str) -> bytes:
    with reading(f"{archive.filename}/{name}"):
        return archive.read(name)


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """The names whose last part matches a shell pattern."""
    return [name for name in names if fnmatch.fnmatchcase(Path(name).name, pattern)]


@guarded
def read_hub_parquet(path: Path, classes: int, hint: str, bad: BadRows) -> Iterator[Row]:
    """The parquet files of the hub: `text`, and `label` counted from 0; `hint` as in `read_columns`."""
    for place, text, label in read_columns(path, ("text", "label"), hint, bad):
        if not isinstance(label, int) or not 0 <= label < classes:
            bad(place, "label out of range", f"expected 0 to {classes - 1}, found {label!r}")
        elif not text or not text.strip():
            bad(place, "no text")
        else:
            yield Row(text, label, place)
