"""The formats of documents. Each reader streams `Row`s and reports unusable ones with their file and line."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from zoo.data.readers import class_name, read_columns
from zoo.data.rows import BadRows, Lines, csv_rows, decode_file, guarded, json_rows, line_of, reading
from zoo.data.sources import SPLITS, Source, identity, split_of
from zoo.data.text.sentences import unescape_zhang
from zoo.errors import DataError

COLUMNS_HINT = " (the keys are data.text_column and data.label_column)"
"""For tables of your own, because only their columns have names to choose."""
HUB_COLUMNS = ("text", "label")


class Row(NamedTuple):
    """One document as it is in its file."""

    text: str
    label: int | str  # The class counted from 0 if the format fixes the classes, otherwise its name
    place: str  # File and line, for messages


@guarded
def read_zhang(path: Path, classes: int, bad: BadRows) -> Iterator[Row]:
    """The csv files of Zhang et al. (2015): no header; a class from 1 on, then one or more fields of text."""
    with Lines(path, encoding=bad.encoding) as lines:
        for number, fields in csv_rows(lines, ",", bad):
            place = line_of(path, number)
            if len(fields) < 2:
                expected = "a class and at least one field of text are expected"
                bad(place, "too few fields", f"found {len(fields)}; {expected}")
            else:
                text = "\n".join(field for field in fields[1:] if field.strip())
                label, expected = _class_from_one(fields[0], classes), f"a class from 1 to {classes}"
                yield from _checked(text, label, f"{expected}, found {fields[0]!r}", place, bad, escaped=True)


@guarded
def read_yelp_json(path: Path, bad: BadRows) -> Iterator[Row]:
    """The Yelp open dataset: json lines with `stars` (1.0 to 5.0) and `text`."""
    for number, record in json_rows(path, ("stars", "text"), "", bad):
        label, expected = _class_from_one(record["stars"], 5), f"1 to 5 stars, found {record['stars']!r}"
        yield from _checked(record["text"], label, expected, line_of(path, number), bad)


@guarded
def read_tang(path: Path, classes: int, bad: BadRows) -> Iterator[Row]:
    """The `.ss` files of Tang et al. (2015): user, product, rating from 1 on and text, with two tabs between them and
    `<sssss>` between sentences."""
    with Lines(path, encoding=bad.encoding) as lines:
        for place, line in lines.decoded(bad):
            fields = line.split("\t\t", 3)
            if len(fields) < 4:
                expected = "user, product, rating and text with two tabs between are expected"
                bad(place, "too few fields", f"found {len(fields)}; {expected}")
            else:
                label, expected = _class_from_one(fields[2], classes), f"a rating from 1 to {classes}"
                text = fields[3].replace("<sssss>", "\n")
                yield from _checked(text, label, f"{expected}, found {fields[2]!r}", place, bad)


@guarded
def read_hub_parquet(path: Path, classes: int, escaped: bool, hint: str, bad: BadRows) -> Iterator[Row]:
    """The parquet files of the hub, downloaded by hand; `hint` as in `read_columns`, `escaped` as in `hub_row`."""
    for place, *values in read_columns(path, HUB_COLUMNS, hint, bad):
        yield from hub_row(dict(zip(HUB_COLUMNS, values, strict=True)), place, bad, classes, escaped)


def hub_row(record: Mapping[str, Any], place: str, bad: BadRows, classes: int, escaped: bool) -> Iterator[Row]:
    """A row of the hub: `text`, which may have the escapes of Zhang et al. (2015), and `label` counted from 0."""
    label = record["label"]
    known = label if isinstance(label, int) and 0 <= label < classes else None
    yield from _checked(record["text"], known, f"0 to {classes - 1}, found {label!r}", place, bad, escaped)


def _class_from_one(value: Any, classes: int) -> int | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) - 1 if number in range(1, classes + 1) else None


def _checked(
    text: Any, label: int | None, expected: str, place: str, bad: BadRows, escaped: bool = False
) -> Iterator[Row]:
    if label is None:
        bad(place, "label out of range", f"expected {expected}")
    elif not isinstance(text, str) or not text.strip():
        bad(place, "no text")
    else:
        yield Row(unescape_zhang(text) if escaped else text, label, place)


@guarded
def read_table(path: Path, text: str, label: str, bad: BadRows) -> Iterator[Row]:
    """A csv, tsv, json lines or parquet file with named columns; labels are names. Raises DataError for a missing
    column, with the columns that exist."""
    for place, found, name in read_columns(path, (text, label), COLUMNS_HINT, bad):
        if not isinstance(found, str) or not found.strip():
            bad(place, "no text", f"column {text!r} holds {found!r}" if found else "")
        elif (label_name := class_name(name)) is None:
            bad(place, "no label", f"column {label!r} holds {name!r}")
        else:
            yield Row(found, label_name, place)


def folder_source(
    path: Path, noun: str, *, classes: Mapping[str, str] | None = None, patterns: Mapping[str, str] | None = None
) -> Source | None:
    """Text files in folders with the names of the classes, which may be in folders called train, test, ..., or in a
    .zip of that. None for a path without text files.

    Args:
        path: the folder or the .zip.
        noun: what a document is, in the plural.
        classes: the folders to read, and the names of their classes; None reads all folders.
        patterns: for some splits, the pattern of the names of their files.
    """
    root, names = _class_files(path)
    if classes:
        names = [name for name in names if Path(name).parent.name in classes]
    splits: dict[str, list[str]] = {}
    for name in names:
        splits.setdefault(split_of(Path(name).parent.parent.name) or "train", []).append(name)
    if "train" not in splits:
        return None
    for split, pattern in (patterns or {}).items():
        if split in splits:
            raise DataError(f"{path}: holds a folder of {split} documents; remove data.split.{split}={pattern!r}")
        chosen = {name for name in splits["train"] if fnmatchcase(Path(name).name, pattern)}
        if not chosen or len(chosen) == len(splits["train"]):
            every = f"{'all' if chosen else 'none'} of {len(splits['train']):,} files, such as {splits['train'][0]}"
            raise DataError(f"{path}: data.split.{split}={pattern!r} is a pattern of file names here, and fits {every}")
        splits[split] = sorted(chosen)
        splits["train"] = [name for name in splits["train"] if name not in chosen]
    order = {folder: number for number, folder in enumerate(classes or ())}

    def rows(part: Sequence[str], bad: BadRows) -> Iterator[Row]:
        for name in part:
            place, folder = f"{path}/{name}", Path(name).parent.name
            with reading(place):
                raw = (root / name).read_bytes()
            text = decode_file(place, raw, bad)
            if text is not None and text.strip():
                yield Row(text, order.get(folder, folder), place)
            elif text is not None:
                bad(place, "no text", "the file is empty")

    stamps = [identity(path)] if path.is_file() else [identity(path / name) for name in names]
    return Source(
        place=str(path),
        description=f"path: {path}, {{count}} {noun}",
        identity={"files": stamps, "patterns": dict(patterns or {})},
        splits={name: partial(rows, splits[name]) for name in SPLITS if name in splits},
        classes=tuple(classes.values()) if classes else None,
    )


def _class_files(path: Path) -> tuple[Path | zipfile.Path, list[str]]:
    """A folder or the content of a .zip, and the sorted names of its text files in class folders. Hidden files and
    folders and those that macOS adds are ignored."""
    root: Path | zipfile.Path = path
    if path.is_dir():
        names = [file.relative_to(path).as_posix() for file in path.rglob("*.[tT][xX][tT]") if file.is_file()]
    else:
        with reading(path):
            archive = zipfile.ZipFile(path)
        root, names = zipfile.Path(archive), archive.namelist()
    parts = {name: name.split("/") for name in names if name.lower().endswith(".txt")}
    hidden = {name for name in parts if any(part.startswith(".") or part == "__MACOSX" for part in parts[name])}
    return root, sorted(name for name in parts if len(parts[name]) > 1 and name not in hidden)
