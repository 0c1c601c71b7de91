"""The formats of captions of image files; each reader gives `Described` images and names file and line of whatever it
cannot use. No image is opened here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from zoo.data.encodings import UTF8
from zoo.data.readers import TABLES, kind_of, read_columns
from zoo.data.rows import (
    BadRows,
    Lines,
    NotJson,
    csv_rows,
    decode_file,
    guarded,
    json_rows,
    line_of,
    open_binary,
    parse_json,
    read_lines,
    reading,
)
from zoo.data.sources import SPLITS, split_of
from zoo.errors import DataError, alternatives, or_nearest

KARPATHY_SPLITS = {"train": "train", "restval": "train", "val": "val", "test": "test"}
"""What the splits of Karpathy are here, `restval` only where it is asked for."""
KARPATHY_LAYOUT = "{'images': [{'filename': ..., 'split': ..., 'sentences': [{'raw': ...}, ...]}, ...]}"
COCO_LAYOUT = "{'images': [{'id': ..., 'file_name': ...}], 'annotations': [{'image_id': ..., 'caption': ...}]}"
TOKEN_LAYOUT = "NAME.jpg#0, a tab and a caption"


class Described(NamedTuple):
    """An image by its file, with its captions."""

    file: str
    """Within a folder that the format does not name."""
    captions: tuple[str, ...]
    place: str
    """File and line of its first caption, for messages."""
    split: str | None = None
    """train, val or test, where the format says it."""


class Gathered:
    """Images whose captions stand in several rows, in the order of their first ones."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[list[str], str, str | None]] = {}

    def add(self, file: str, captions: Sequence[str], place: str, bad: BadRows, split: str | None = None) -> None:
        """One row. One that puts its image into a second split goes to `bad`."""
        known, first, of = self._found.setdefault(file, ([], place, split))
        if of != split:
            bad(place, "one image in two splits", f"{file!r} is of {split!r} here and of {of!r} in {first}")
        else:
            known.extend(captions)

    def __iter__(self) -> Iterator[Described]:
        for file, (captions, place, split) in self._found.items():
            yield Described(file, tuple(captions), place, split)


# Json


def read_json(path: Path, bad: BadRows) -> dict[str, Any]:
    """The one object of a json file. Raises DataError, with the line, for another file."""
    with open_binary(path) as file, reading(path):
        raw = file.read()
    text = decode_file(path, raw, BadRows(encoding=bad.encoding))
    try:
        found = parse_json(text or "")
    except NotJson as error:
        if error.position is None or text is None:
            raise DataError(f"{path}: {error}") from error
        at_end = error.position >= len(text.rstrip()) - 1 or error.detail.startswith("Unterminated")
        line, letter = text.count("\n", 0, error.position) + 1, error.position - text.rfind("\n", 0, error.position)
        cut = "; is the file whole?" if at_end else ""
        raise DataError(f"{line_of(path, line)}: {error} at letter {letter}{cut}") from error
    if not isinstance(found, dict):
        raise DataError(f"{path}: found a json {type(found).__name__}, expected an object: {KARPATHY_LAYOUT}")
    return found


def is_karpathy(found: Mapping[str, Any]) -> bool:
    """Whether an object is Karpathy's, whose images hold their sentences, and not COCO's."""
    images = found.get("images")
    first = images[0] if isinstance(images, list) and images else None
    return isinstance(first, dict) and "sentences" in first


@guarded
def read_karpathy(path: Path, restval: bool, bad: BadRows) -> Iterator[Described]:
    """The images of `dataset_flickr8k.json`, `dataset_flickr30k.json` or `dataset_coco.json` (Karpathy and Fei-Fei
    2015) with their raw sentences; `restval`: those of COCO's that he left over are trained on, else left out."""
    found = read_json(path, bad)
    if "annotations" in found and not is_karpathy(found):
        raise DataError(f"{path}: found annotations of COCO; expected {KARPATHY_LAYOUT}, or captions_train2014.json")
    for number, image in enumerate(_list(found, "images", path, KARPATHY_LAYOUT), 1):
        place = f"{path}, image {number}"
        try:
            folder, file, split = image.get("filepath", ""), image["filename"], image["split"]
            captions = tuple(sentence["raw"] for sentence in image["sentences"])
        except (KeyError, TypeError, AttributeError) as error:
            bad(place, "not as expected", f"{_lacking(error)}; expected {KARPATHY_LAYOUT}")
            continue
        if not isinstance(split, str) or split not in KARPATHY_SPLITS:
            bad(place, "unknown split", f"found {split!r}, expected {alternatives(list(KARPATHY_SPLITS))}")
        elif problem := _no_texts([folder, file, *captions]):
            bad(place, "no text", problem)
        elif split != "restval" or restval:
            yield Described(str(Path(folder, file)), captions, f"{place} ({file})", KARPATHY_SPLITS[split])


@guarded
def read_coco(path: Path, bad: BadRows) -> Iterator[Described]:
    """The images of an annotation file of COCO, such as `captions_train2014.json`, in its order."""
    found = read_json(path, bad)
    told: dict[int | str, tuple[str, list[str], str]] = {}
    for number, image in enumerate(_list(found, "images", path, COCO_LAYOUT), 1):
        place = f"{path}, image {number}"
        named = isinstance(image, dict) and isinstance(image.get("id"), int | str)
        if not named or not isinstance(file := image.get("file_name"), str):
            bad(place, "not as expected", f"found {str(image)[:60]}; expected {COCO_LAYOUT}")
        elif image["id"] in told:
            bad(place, "one id of two images", f"{image['id']!r} is that of {told[image['id']][0]!r}, too")
        else:
            told[image["id"]] = file, [], f"{place} ({file})"
    for number, annotation in enumerate(_list(found, "annotations", path, COCO_LAYOUT), 1):
        place = f"{path}, annotation {number}"
        try:
            image, text = annotation["image_id"], annotation["caption"]
        except (KeyError, TypeError) as error:
            bad(place, "not as expected", f"{_lacking(error)}; expected {COCO_LAYOUT}")
            continue
        if not isinstance(image, int | str) or image not in told:
            bad(place, "unknown image", f"image_id {image!r} is the id of none of {len(told):,} images")
        elif problem := _no_texts([text]):
            bad(place, "no text", problem)
        else:
            told[image][1].append(text)
    for file, captions, place in told.values():
        yield Described(file, tuple(captions), place)


def _list(found: Mapping[str, Any], key: str, path: Path, expected: str) -> list[Any]:
    if isinstance(found.get(key), list) and found[key]:
        return found[key]
    there = ", ".join(map(repr, found)) or "nothing"
    raise DataError(f"{path}: no list of {key!r}; found: {there}; expected {expected}")


def _lacking(error: Exception) -> str:
    return f"no key {error}" if isinstance(error, KeyError) else f"found something else ({error})"


def _no_texts(values: Sequence[Any]) -> str | None:
    """What is wrong where one of some values is no text."""
    return next((f"found {value!r}" for value in values if not isinstance(value, str)), None)


# Lines


@guarded
def read_tokens(path: Path, bad: BadRows) -> Iterator[Described]:
    """`Flickr8k.token.txt` and `results_20130124.token`, `NAME.jpg#0`, a tab and a caption a line; or the forms in
    which they are passed on: `captions.txt` with the header `image,caption`, `results.csv` with bars between its
    columns."""
    gathered = Gathered()
    with Lines(path, encoding=bad.encoding) as lines:
        first = lines.peek().strip().lower()
        if first == "image,caption":
            for number, fields in csv_rows(lines, ",", bad):
                place = line_of(path, number)
                if len(fields) != 2:
                    bad(place, "wrong number of fields", f"found {len(fields)}, the header has 2")
                elif fields != ["image", "caption"]:
                    gathered.add(fields[0].strip(), [fields[1]], place, bad)
        else:
            bars = first.startswith("image_name|")
            for line in lines:
                place, undecodable = line_of(path, lines.number), lines.undecodable
                lines.mark()
                if undecodable:
                    bad(place, "not UTF-8", undecodable)
                elif line.strip():
                    _token_line(line.rstrip("\r\n"), bars, gathered, place, bad)
    yield from gathered


def _token_line(line: str, bars: bool, gathered: Gathered, place: str, bad: BadRows) -> None:
    if bars:
        file, *rest = line.split("|", 2)
        if len(rest) != 2:
            bad(place, "wrong number of fields", f"found {1 + len(rest)}, expected image_name|comment_number|comment")
        elif file != "image_name":
            gathered.add(file.strip(), [rest[1]], place, bad)
        return
    mark, tab, text = line.partition("\t")
    file, hash_, number = mark.rpartition("#")
    if not (tab and hash_ and number.strip().isdecimal()):
        bad(place, "not as expected", f"found {line[:60]!r}, expected {TOKEN_LAYOUT}")
    else:
        gathered.add(file.strip(), [text], place, bad)


def read_list(path: Path) -> dict[str, str]:
    """The images that a list such as `Flickr_8k.trainImages.txt` names, one a line, with the place of each."""
    lines = enumerate(read_lines(path), 1)
    return {line.strip(): line_of(path, number) for number, line in lines if line.strip()}


def listed(described: Iterator[Described], lists: Mapping[str, Path], bad: BadRows) -> Iterator[Described]:
    """The images that the lists of splits name, in the order of the lists; what is in none of them is left out. An
    image without captions goes to `bad`."""
    found = {one.file: one for one in described}
    seen: dict[str, str] = {}
    for split, path in lists.items():
        for name, place in read_list(path).items():
            one = found.get(name) or found.get(f"{name}.jpg")
            if one is None:
                bad(place, "an image without captions", f"found {name!r}{or_nearest(name, found)}")
            elif one.file in seen:
                bad(place, "one image in two splits", f"{one.file!r} is in {seen[one.file]}, too")
            else:
                seen[one.file] = place
                yield one._replace(split=split)


# Tables


def table_columns(path: Path, encoding: str = UTF8) -> list[str]:
    """The names of a table's columns. Raises DataError where it is no table."""
    kind = kind_of(path)
    if kind not in TABLES:
        raise DataError(f"{path}: unknown kind of file {kind!r}; {', '.join(TABLES)} are read")
    if kind == ".parquet":
        with reading(path):
            return list(pq.read_schema(path).names)
    if kind in (".csv", ".tsv"):
        with Lines(path, encoding=encoding) as lines:
            delimiter = "\t" if kind == ".tsv" else max(",;\t", key=lines.peek().count)
            return [name.strip() for name in next(csv_rows(lines, delimiter, BadRows()), (1, []))[1]]
    return list(next(json_rows(path, (), "", BadRows("skip", encoding)), (1, {}))[1])


@guarded
def read_table(path: Path, columns: Sequence[str], hint: str, bad: BadRows) -> Iterator[Described]:
    """A table with a column of files and one of captions, any number of rows an image, and perhaps one of splits:
    `columns` are their names. In json lines and parquet a caption may also be a list of them."""
    gathered = Gathered()
    for place, file, text, *splits in read_columns(path, tuple(columns), hint, bad):
        texts = text if isinstance(text, list) else [text]
        split = split_of(splits[0]) if splits and isinstance(splits[0], str) else None
        if not isinstance(file, str) or not file.strip():
            bad(place, "no file", f"column {columns[0]!r} holds {file!r}")
        elif problem := _no_texts(["" if text is None else text for text in texts]):
            bad(place, "no text", f"column {columns[1]!r}: {problem}")
        elif splits and split is None:
            found = f"column {columns[2]!r} holds {splits[0]!r}"
            bad(place, "unknown split", f"{found}, expected {alternatives(SPLITS)}")
        else:
            file = file.strip().replace("\\", "/")  # as folders are written on Windows
            gathered.add(file, [text for text in texts if text is not None], place, bad, split)
    yield from gathered
