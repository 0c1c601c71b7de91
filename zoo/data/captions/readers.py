"""Readers of captions that several families share: a json file of records, and a table. Every problem is reported with
its file and line, and no picture is opened."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from zoo.data.readers import read_columns
from zoo.data.rows import BadRows, NotJson, decode_file, guarded, line_of, open_binary, parse_json, reading
from zoo.data.sources import SPLITS, split_of
from zoo.errors import DataError, alternatives

T = TypeVar("T")


class CaptionedFile(NamedTuple):
    """A file of an image or a clip, with all of its captions or some of them."""

    file: str  # Its path in a folder that the format does not name
    captions: tuple[str, ...]
    place: str  # File and line of the first caption, for messages
    split: str | None = None  # train, val or test; None if the format has no splits


# Json


def read_json(path: Path, layout: str, bad: BadRows) -> dict[str, Any]:
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
        raise DataError(f"{path}: found a json {type(found).__name__}, expected an object: {layout}")
    return found


def entries(found: Mapping[str, Any], key: str, path: Path, layout: str) -> list[Any]:
    """The list with a name in a json object. Raises DataError if it is missing or empty."""
    if isinstance(found.get(key), list) and found[key]:
        return found[key]
    there = ", ".join(map(repr, found)) or "nothing"
    raise DataError(f"{path}: no list of {key!r}; found: {there}; expected {layout}")


def records(
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


def not_text(values: Sequence[Any]) -> str | None:
    """Describes the first value that is not text."""
    return next((f"found {value!r}" for value in values if not isinstance(value, str)), None)


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
        elif problem := not_text(captions):
            bad(place, "no text", f"column {columns[1]!r}: {problem}")
        elif splits and split is None:
            found = f"column {columns[2]!r} holds {splits[0]!r}"
            bad(place, "unknown split", f"{found}, expected {alternatives(SPLITS)}")
        else:
            yield CaptionedFile(file.strip().replace("\\", "/"), captions, place, split)  # Windows writes backslashes
