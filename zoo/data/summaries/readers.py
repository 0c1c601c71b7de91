"""The formats of articles with summaries. Each reader streams `Article`s and reports what it cannot use by its file and
line; `SummaryData` checks the texts themselves."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from zoo.data.readers import read_columns
from zoo.data.rows import BadRows, decode_file, guarded, line_of, open_binary, reading, visible
from zoo.data.sources import SPLITS, Source, folder_identity, path_source, split_of
from zoo.data.summaries.article import Article
from zoo.errors import DataError

NOUN = "articles"
HIGHLIGHT = "@highlight"
ENDS = (".", "!", "?", "'", "`", '"', ")", "’", "”")
"""A line that ends in another sign gets a full stop, as in the data of See et al. (2017): captions of images have none,
and would continue in the next line."""
MARKED_SENTENCE = re.compile(r"<s>(.*?)</s>", re.DOTALL)
SECTION = re.compile(r"\[(SN|XSUM)\](.+?)\[\1\]")
SUMMARY_SECTIONS, TEXT_SECTION = ("FIRST-SENTENCE", "INTRODUCTION"), "RESTBODY"

ReadFile = Callable[[Path, BadRows], Iterator[Article]]


# Tables


@guarded
def read_table(path: Path, columns: tuple[str, ...], hint: str, bad: BadRows) -> Iterator[Article]:
    """A csv, tsv, json lines or parquet file. `columns` are those of the text, of the summary and, if there is one, of
    the identifier. In json lines and parquet a text may be a list of sentences, and the summaries a list of several.
    Raises DataError for a missing column, with `hint`."""
    for place, *values in read_columns(path, columns, hint, bad):
        yield from read_record(dict(zip(columns, values, strict=True)), place, bad, columns)


def read_record(record: Mapping[str, Any], place: str, bad: BadRows, columns: tuple[str, ...]) -> Iterator[Article]:
    """The article of a row with these `columns`, which are those of `read_table`."""
    for column in columns[:2]:
        value = record[column]
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, str | None) for part in parts):
            bad(place, "no text", f"column {column!r} holds {str(value)[:60]}; expected a text or a list of texts")
            return
    text, summaries = (value if isinstance(value := record[name], list) else [value] for name in columns[:2])
    name = str(record[columns[2]] or "") if len(columns) > 2 else ""
    sentences = text if len(text) == 1 else [" ".join((part or "").split()) for part in text]
    yield Article("\n".join(part or "" for part in sentences), tuple(part or "" for part in summaries), place, name)


# One file per article


def read_files(read: ReadFile, folder: Path, suffix: str, bad: BadRows) -> Iterator[Article]:
    """The articles of all files of a folder whose names end with `suffix`, in alphabetical order."""
    for path in visible(folder, f"*{suffix}"):
        yield from read(path, bad)


def read_listed(
    read: ReadFile,
    names: Callable[[], Iterable[tuple[str, str]]],
    files: Callable[[], Mapping[str, Path]],
    bad: BadRows,
) -> Iterator[Article]:
    """The articles whose names are listed.

    Args:
        read: reads a file.
        names: gives the place of each name in the list, and the name.
        files: gives the file of each name.
        bad: gets a name without a file.
    """
    found = files()
    for place, name in names():
        if name in found:
            yield from read(found[name], bad)
        else:
            bad(place, "no file of this article", f"expected one that is called {name}, found {len(found):,} others")


def folder_source(path: Path, read: ReadFile, suffix: str) -> Source | None:
    """Files with a suffix in folders called train, val and test, or all in one folder. None for a path without any."""
    folders: dict[str, Path] = {}
    for folder in [path, *filter(Path.is_dir, visible(path))] if path.is_dir() else []:
        split = "train" if folder == path else split_of(folder.name)
        if split and next(folder.glob(f"*{suffix}"), None):
            folders.setdefault(split, folder)
    if "train" not in folders:
        return None
    splits = {split: partial(read_files, read, folders[split], suffix) for split in SPLITS if split in folders}
    return path_source(path, NOUN, splits, folders={one: folder_identity(folders[one], suffix) for one in splits})


def text_of(path: Path, bad: BadRows) -> str | None:
    """The text of a file, or None if it is damaged, which is reported."""
    with reading(path):
        raw = path.read_bytes()
    return decode_file(path, raw, bad)


def read_story(path: Path, bad: BadRows) -> Iterator[Article]:
    """A story of CNN or the Daily Mail: paragraphs, and after each line @highlight a sentence of the summary."""
    if (text := text_of(path, bad)) is None:
        return
    body, highlights, at = list[str](), list[str](), 0
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if line.startswith(HIGHLIGHT):
            at = number
        elif line:
            (highlights if at else body).append(line if line.endswith(ENDS) else f"{line} .")
    if not highlights:
        last = text.rstrip("\n").count("\n") + 1
        where = "no sentence follows it" if at else f"expected {HIGHLIGHT} and a sentence of the summary below it"
        bad(line_of(path, at or last), f"no {HIGHLIGHT}" if not at else f"empty {HIGHLIGHT}", where)
    else:
        yield Article("\n".join(body), ("\n".join(highlights),), line_of(path, 1), path.stem)


def read_sections(path: Path, bad: BadRows) -> Iterator[Article]:
    """An article of XSum in one file: the sections FIRST-SENTENCE, which is the summary, and RESTBODY, each after a
    line with its name in [SN] or [XSUM]."""
    if (text := text_of(path, bad)) is None:
        return
    parts = SECTION.split(text)  # text, mark, name, text, mark, name, ...
    found = {name: part.strip() for name, part in zip(parts[2::3], parts[3::3], strict=True)}
    summary = next((found[name] for name in SUMMARY_SECTIONS if name in found), None)
    if summary is None or TEXT_SECTION not in found:
        expected = f"expected [SN]{SUMMARY_SECTIONS[0]}[SN] and [SN]{TEXT_SECTION}[SN]"
        bad(line_of(path, 1), "missing section", f"{expected}, found {', '.join(found) or 'none'}")
    else:
        yield Article(found[TEXT_SECTION], (summary,), line_of(path, 1), path.name.split(".")[0])


def read_pair(path: Path, bad: BadRows, *, summary: Callable[[Path], Path]) -> Iterator[Article]:
    """A text and the file of its summary, which `summary` finds for the file of the text."""
    other = summary(path)
    if not other.is_file():
        bad(str(path), "no file of its summary", f"expected {other}")
        return
    text, written = text_of(path, bad), text_of(other, bad)
    if text is not None and written is not None:
        yield Article(text.strip(), (written.strip(),), line_of(path, 1), path.stem)


# The .bin files of See et al. (2017)


@guarded
def read_bin(path: Path, bad: BadRows) -> Iterator[Article]:
    """Records of the features `article` and `abstract`, each after its length in eight bytes. The tokens have blanks
    between them, and each sentence of a summary is in <s> and </s>."""
    with open_binary(path) as file:
        number = 0
        while head := file.read(8):
            number += 1
            place, size = f"{path}, record {number}", int.from_bytes(head, "little", signed=True)
            record = file.read(size) if size > 0 else b""
            if len(head) < 8 or size <= 0 or len(record) < size:
                raise DataError(f"{place}: the file ends inside this record, or is not one of records; copy it again")
            try:
                found = features(record)
                text, abstract = (found[name].decode() for name in ("article", "abstract"))
            except (ValueError, LookupError) as error:
                bad(place, "not a record of an article", f"expected the features article and abstract ({error})")
                continue
            sentences = [one.strip() for one in MARKED_SENTENCE.findall(abstract)] or [abstract.strip()]
            yield Article(text.strip(), ("\n".join(sentences),), place)


def features(record: bytes) -> dict[str, bytes]:
    """The first value of each feature of a serialized tf.Example. Raises ValueError for other bytes.

    An Example has one field of Features, these have one field per entry of a map, an entry has a name (1) and a Feature
    (2), and a Feature has a list (1) of values.
    """
    found = {}
    for all_features in _fields(record, 1):
        for entry in _fields(all_features, 1):
            values = [
                value for feature in _fields(entry, 2) for one in _fields(feature, 1) for value in _fields(one, 1)
            ]
            for name in _fields(entry, 1):
                if values:
                    found[name.decode()] = values[0]
    return found


def _fields(message: bytes, wanted: int) -> list[bytes]:
    """The values of the fields with a number, in a protocol buffer whose fields all have a length."""
    found, at = [], 0
    while at < len(message):
        key, at = _varint(message, at)
        size, at = _varint(message, at)
        if key & 7 != 2 or at + size > len(message):
            raise ValueError("not a tf.Example")
        if key >> 3 == wanted:
            found.append(message[at : at + size])
        at += size
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits per byte, the lowest first, and the position after it."""
    value, shift = 0, 0
    while at < len(message):
        value |= (message[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if message[at - 1] < 128:
            return value, at
    raise ValueError("not a tf.Example")


def first_with(path: Path, folders: Sequence[str], pattern: str) -> Path | None:
    """The first of some folders below a path, or the path itself (`.`), with a file that matches a pattern."""
    return next((path / one for one in folders if next((path / one).glob(pattern), None)), None)
