"""Readers of captions. Every problem is reported with its file and line, and no image is opened.

A reader gives the captions of an image together or one by one; `zoo.data.images.files` puts them together.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from zoo.data.readers import read_columns
from zoo.data.rows import (
    BadRows,
    Lines,
    NotJson,
    csv_rows,
    decode_file,
    guarded,
    line_of,
    open_binary,
    parse_json,
    read_lines,
    reading,
)
from zoo.data.sources import SPLITS, split_of
from zoo.errors import DataError, alternatives, or_nearest

KARPATHY_SPLITS = {"train": "train", "restval": "train", "val": "val", "test": "test"}
KARPATHY_LAYOUT = "{'images': [{'filename': ..., 'split': ..., 'sentences': [{'raw': ...}, ...]}, ...]}"
COCO_LAYOUT = "{'images': [{'id': ..., 'file_name': ...}], 'annotations': [{'image_id': ..., 'caption': ...}]}"
TOKENS = re.compile(r"(?P<file>[^\t]*)# *\d+ *\t(?P<caption>.*)")
BARS = re.compile(r"(?P<file>[^|]*)\|[^|]*\|(?P<caption>.*)")
T = TypeVar("T")


class CaptionedFile(NamedTuple):
    """An image file, with all of its captions or some of them."""

    file: str  # Its path in a folder that the format does not name
    captions: tuple[str, ...]
    place: str  # File and line of the first caption, for messages
    split: str | None = None  # train, val or test; None if the format has no splits


# Json


def read_json(path: Path, bad: BadRows) -> dict[str, Any]:
    """Reads a file with one json object. Raises DataError, with the line, for another file."""
    with open_binary(path) as file, reading(path):
        raw = file.read()
    text = decode_file(path, raw, BadRows(encoding=bad.encoding)) or ""
    try:
        found = parse_json(text)
    except NotJson as error:
        if error.position is None or not text:
            raise DataError(f"{path}: {error}") from error
        at_end = error.position >= len(text.rstrip()) - 1 or error.detail.startswith("Unterminated")
        line, letter = text.count("\n", 0, error.position) + 1, error.position - text.rfind("\n", 0, error.position)
        cut = "; is the file whole?" if at_end else ""
        raise DataError(f"{line_of(path, line)}: {error} at letter {letter}{cut}") from error
    if not isinstance(found, dict):
        raise DataError(f"{path}: found a json {type(found).__name__}, expected an object: {KARPATHY_LAYOUT}")
    return found


@guarded
def read_karpathy(path: Path, restval: bool, bad: BadRows) -> Iterator[CaptionedFile]:
    """Reads the raw sentences of `dataset_flickr8k.json`, `dataset_flickr30k.json` or `dataset_coco.json` (Karpathy and
    Fei-Fei 2015). With `restval` the split of this name belongs to the training images, else it is ignored."""

    def fields(image: Any) -> tuple[Any, ...]:
        captions = [sentence["raw"] for sentence in image["sentences"]]
        return image["split"], image.get("filepath", ""), image["filename"], *captions

    found = read_json(path, bad)
    images = _entries(found, "images", path, KARPATHY_LAYOUT)
    if "annotations" in found and "sentences" not in images[0]:
        raise DataError(f"{path}: found annotations of COCO; expected {KARPATHY_LAYOUT}, or captions_train2014.json")
    for place, (split, folder, file, *captions) in _fields(images, "image", fields, path, KARPATHY_LAYOUT, bad):
        if not isinstance(split, str) or split not in KARPATHY_SPLITS:
            bad(place, "unknown split", f"found {split!r}, expected {alternatives(list(KARPATHY_SPLITS))}")
        elif problem := _not_text([folder, file, *captions]):
            bad(place, "no text", problem)
        elif split != "restval" or restval:
            yield CaptionedFile(str(Path(folder, file)), tuple(captions), f"{place} ({file})", KARPATHY_SPLITS[split])


@guarded
def read_coco(path: Path, bad: BadRows) -> Iterator[CaptionedFile]:
    """Reads annotations of COCO, such as `captions_train2014.json`, in the order of the images."""
    found, known = read_json(path, bad), dict[int | str, tuple[str, list[str], str]]()
    images, annotations = (_entries(found, name, path, COCO_LAYOUT) for name in ("images", "annotations"))
    of_image = _fields(images, "image", lambda image: (image["id"], image["file_name"]), path, COCO_LAYOUT, bad)
    for place, (number, file) in of_image:
        if not isinstance(number, int | str) or not isinstance(file, str):
            bad(place, "not as expected", f"found id {number!r} and file_name {file!r}; expected {COCO_LAYOUT}")
        elif number in known:
            bad(place, "one id of two images", f"{number!r} is also the id of {known[number][0]!r}")
        else:
            known[number] = file, [], f"{place} ({file})"
    of_text = _fields(annotations, "annotation", lambda one: (one["image_id"], one["caption"]), path, COCO_LAYOUT, bad)
    for place, (number, caption) in of_text:
        if not isinstance(number, int | str) or number not in known:
            bad(place, "unknown image", f"image_id {number!r} is not the id of any of {len(known):,} images")
        elif problem := _not_text([caption]):
            bad(place, "no text", problem)
        else:
            known[number][1].append(caption)
    for file, captions, place in known.values():
        yield CaptionedFile(file, tuple(captions), place)


def _entries(found: Mapping[str, Any], key: str, path: Path, layout: str) -> list[Any]:
    if isinstance(found.get(key), list) and found[key]:
        return found[key]
    there = ", ".join(map(repr, found)) or "nothing"
    raise DataError(f"{path}: no list of {key!r}; found: {there}; expected {layout}")


def _fields(
    entries: Sequence[Any], noun: str, fields: Callable[[Any], T], path: Path, layout: str, bad: BadRows
) -> Iterator[tuple[str, T]]:
    """(place, fields) of each entry; one without a field is a bad row."""
    for number, entry in enumerate(entries, 1):
        place = f"{path}, {noun} {number}"
        try:
            found = fields(entry)
        except (KeyError, TypeError, AttributeError) as error:
            lacking = f"no key {error}" if isinstance(error, KeyError) else f"found something else ({error})"
            bad(place, "not as expected", f"{lacking}; expected {layout}")
        else:
            yield place, found


def _not_text(values: Sequence[Any]) -> str | None:
    """Describes the first value that is not text."""
    return next((f"found {value!r}" for value in values if not isinstance(value, str)), None)


# Lines


@guarded
def read_tokens(path: Path, bad: BadRows) -> Iterator[CaptionedFile]:
    """Reads lines of `NAME.jpg#0`, a tab and a caption, as in `Flickr8k.token.txt` and `results_20130124.token`.

    Two copies of these corpora are read, too: `captions.txt` with the header `image,caption`, and `results.csv`, whose
    columns are separated by bars.
    """
    with Lines(path, encoding=bad.encoding) as lines:
        header = lines.peek().strip().lower()
        if header == "image,caption":
            for number, fields in csv_rows(lines, ",", bad):
                place = line_of(path, number)
                if len(fields) != 2:
                    bad(place, "wrong number of fields", f"found {len(fields)}, the header has 2")
                elif fields != ["image", "caption"]:
                    yield CaptionedFile(fields[0].strip(), (fields[1],), place)
            return
        bars = header.startswith("image_name|")
        expected = "image_name|comment_number|comment" if bars else "NAME.jpg#0, a tab and a caption"
        for place, line in lines.decoded(bad):
            if not line.strip() or (bars and line.strip().lower() == header):
                continue
            if found := (BARS if bars else TOKENS).fullmatch(line):
                yield CaptionedFile(found["file"].strip(), (found["caption"],), place)
            else:
                bad(place, "not as expected", f"found {line[:60]!r}, expected {expected}")


def read_listed(path: Path, lists: Mapping[str, Path], bad: BadRows) -> Iterator[CaptionedFile]:
    """The images of `read_tokens` in the order of the lists of the splits, such as `Flickr_8k.trainImages.txt`, which
    have one name per line. Without lists these are all images. A name without captions is a bad row."""
    if not lists:
        yield from read_tokens(path, bad)
        return
    captions: dict[str, list[str]] = {}
    for one in read_tokens(path, bad):
        captions.setdefault(one.file, []).extend(one.captions)
    for split, names in lists.items():
        places = {line.strip(): line_of(names, number) for number, line in enumerate(read_lines(names), 1)}
        for name, place in places.items():
            file = name if name in captions else f"{name}.jpg"
            if file in captions:
                yield CaptionedFile(file, tuple(captions[file]), place, split)
            elif name:
                bad(place, "an image without captions", f"found {name!r}{or_nearest(name, captions)}")


# Tables


@guarded
def read_table(path: Path, columns: Sequence[str], hint: str, bad: BadRows) -> Iterator[CaptionedFile]:
    """Reads a table with any number of rows per image. `columns` names the columns of files and captions, and perhaps
    of splits. In json lines and parquet a caption may also be a list of captions."""
    for place, file, text, *splits in read_columns(path, tuple(columns), hint, bad):
        captions = tuple(caption for caption in (text if isinstance(text, list) else [text]) if caption is not None)
        split = split_of(splits[0]) if splits and isinstance(splits[0], str) else None
        if not isinstance(file, str) or not file.strip():
            bad(place, "no file", f"column {columns[0]!r} holds {file!r}")
        elif problem := _not_text(captions):
            bad(place, "no text", f"column {columns[1]!r}: {problem}")
        elif splits and split is None:
            found = f"column {columns[2]!r} holds {splits[0]!r}"
            bad(place, "unknown split", f"{found}, expected {alternatives(SPLITS)}")
        else:
            yield CaptionedFile(file.strip().replace("\\", "/"), captions, place, split)  # Windows writes backslashes
