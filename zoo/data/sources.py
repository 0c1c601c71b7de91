"""Where examples come from: a generator inside, the hub, or files; none of them is ever taken in another's place."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import datasets

from zoo.data import samples
from zoo.data.options import SampleOptions
from zoo.data.readers import class_files, matching, read_class_files, read_table
from zoo.data.rows import BadRows, Row
from zoo.errors import DataError

SPLITS = ("train", "val", "test")
SPLIT_NAMES = {
    name: re.compile(rf"(?<![a-z])(?:{words})(?![a-z])", re.IGNORECASE)
    for name, words in (("train", "train|training"), ("val", "val|valid|validation|dev"), ("test", "test|testing"))
}


class Sample(Protocol):
    """A generated document: its words, which of them decided the class, and the class."""

    @property
    def sentences(self) -> Sequence[Sequence[str]]: ...
    @property
    def evidence(self) -> Sequence[Sequence[bool]]: ...
    @property
    def label(self) -> int: ...


@dataclass(frozen=True)
class Source:
    """Examples that can be read, split by split; making one reads nothing but names, sizes and dates of files."""

    place: str
    """The file, the repository or the sample, for messages."""
    description: str
    """One line; `{count}` stands for the number of examples."""
    identity: Mapping[str, Any]
    """Plain data that differs wherever the examples may differ."""
    splits: Mapping[str, Callable[[BadRows], Iterator[Any]]]
    """Readers, `train` first; splits that are missing are drawn from it."""


@dataclass(frozen=True)
class DocumentSource(Source):
    """Documents: its readers give `Row`s, or `Sample`s where they are generated."""

    classes: tuple[str, ...] | None
    """Names of the classes, None where they are found in the documents."""
    generated: bool = False


class Generator(Protocol):
    """A function that makes examples; example i depends on the seed and on i alone."""

    def __call__(self, count: int, *, seed: int) -> Iterator[Any]: ...


def sample_source(generate: Generator, options: SampleOptions, noun: str) -> Source:
    """The first examples of a generator, cut into train, val and test."""
    stream = generate(options.total, seed=options.seed)  # runs on from split to split

    def take(count: int) -> Callable[[BadRows], Iterator[Any]]:
        return lambda bad: islice(stream, count)

    # What a generator makes follows from its code and from the word lists in `samples`.
    files = {Path(inspect.getfile(generate)), *Path(samples.__file__).parent.glob("*.py")}
    code = sha256(b"".join(file.read_bytes() for file in sorted(files)))
    return Source(
        place="the sample",
        description=f"sample: {{count}} generated {noun}, seed {options.seed}",
        identity={"sample": code.hexdigest(), "name": getattr(generate, "__qualname__", ""), **asdict(options)},
        splits={name: take(getattr(options, name)) for name in SPLITS},
    )


def hub_source(
    repository: str, splits: Sequence[str], text: Callable[[str], str], classes: tuple[str, ...], noun: str
) -> DocumentSource:
    """A set of texts with labels on the Hugging Face hub, kept in the cache of `datasets`."""

    def read(split: str, bad: BadRows) -> Iterator[Row]:
        for number, record in enumerate(download(repository, split, ("text", "label")), 1):
            place = f"{repository}, {split}, row {number}"
            if not isinstance(record["label"], int) or not 0 <= record["label"] < len(classes):
                bad(place, "label out of range", f"found {record['label']!r}, 0 to {len(classes) - 1} are expected")
            elif not record["text"] or not record["text"].strip():
                bad(place, "no text")
            else:
                yield Row(text(record["text"]), record["label"], place)

    return DocumentSource(
        place=repository,
        description=f"hub: {repository}, {{count}} {noun}",
        identity={"hub": repository, "splits": list(splits)},
        splits={split: partial(read, split) for split in splits},
        classes=classes,
    )


def download(repository: str, split: str, columns: tuple[str, str]) -> Iterable[dict[str, Any]]:
    """A split of a repository on the Hugging Face hub that has these columns. Raises DataError where it cannot be
    had."""
    try:
        found = datasets.load_dataset(repository, split=split)
    except Exception as error:  # whatever the network, the hub or the disk may come up with
        reason = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        raise DataError(
            f"{repository}: the split {split!r} cannot be loaded from the Hugging Face hub ({reason}); expected "
            f"parquet files with the columns {' and '.join(columns)}. Go online, take data.source=sample, or "
            "data.source=PATH of the official files"
        ) from error
    if missing := [column for column in columns if column not in found.column_names]:
        raise DataError(f"{repository}: no column {missing[0]!r}; found: {', '.join(found.column_names)}")
    return found


def file_source(
    path: Path,
    files: Mapping[str, Sequence[Path]],
    read: Callable[[Path, BadRows], Iterator[Any]],
    noun: str,
) -> Source:
    """Files of one format, any number a split."""

    def read_all(parts: Sequence[Path], bad: BadRows) -> Iterator[Any]:
        return (row for part in parts for row in read(part, bad))

    return Source(
        place=str(path),
        description=f"path: {path}, {{count}} {noun}",
        identity={"files": {name: [identity(part) for part in parts] for name, parts in files.items()}},
        splits={name: partial(read_all, files[name]) for name in SPLITS if name in files},
    )


def folder_source(
    path: Path, noun: str, *, classes: Mapping[str, str] | None = None, patterns: Mapping[str, str] | None = None
) -> DocumentSource | None:
    """One text file a document, in folders named as the classes (inside folders named train, test, ... if there are
    any), or a .zip of that; None where there are no such files. `classes` gives the folders to read and the names of
    their classes, `patterns` for some splits the names of their files."""
    names, read = class_files(path)
    if classes:
        names = [name for name in names if Path(name).parent.name in classes]
    if not names:
        return None
    splits: dict[str, list[str]] = {}
    for name in names:
        splits.setdefault(_split_of(Path(name).parent.parent.name) or "train", []).append(name)
    if "train" not in splits:
        return None
    for split, pattern in (patterns or {}).items():
        if split in splits:
            raise DataError(f"{path}: holds a folder of {split} documents; leave data.split.{split}={pattern!r} out")
        chosen = matching(splits["train"], pattern)
        if not chosen or len(chosen) == len(splits["train"]):
            found = (
                f"fits {'all' if chosen else 'none'} of {len(splits['train']):,} files, such as {splits['train'][0]}"
            )
            raise DataError(
                f"{path}: data.split.{split}={pattern!r} is taken for a pattern of file names here, and {found}"
            )
        taken = set(chosen)
        splits |= {"train": [name for name in splits["train"] if name not in taken], split: chosen}
    order = {folder: number for number, folder in enumerate(classes or ())}

    def rows(part: Sequence[str], bad: BadRows) -> Iterator[Row]:
        for row in read_class_files(part, read, path, bad):
            yield row._replace(label=order[str(row.label)]) if classes else row

    stamps = [identity(path)] if path.is_file() else [identity(path / name) for name in names]
    return DocumentSource(
        place=str(path),
        description=f"path: {path}, {{count}} {noun}",
        identity={"files": stamps, "patterns": dict(patterns or {})},
        splits={name: partial(rows, splits[name]) for name in SPLITS if name in splits},
        classes=tuple(classes.values()) if classes else None,
    )


def table_source(path: Path, files: Mapping[str, Sequence[Path]], text: str, label: str, noun: str) -> DocumentSource:
    """Tables with named columns."""
    source = file_source(path, files, lambda part, bad: read_table(part, text, label, bad), noun)
    return with_classes(replace(source, identity={**source.identity, "columns": [text, label]}), None)


def with_classes(source: Source, classes: tuple[str, ...] | None, *, generated: bool = False) -> DocumentSource:
    """The documents of `source`."""
    return DocumentSource(**vars(source), classes=classes, generated=generated)


def find_splits(folder: Path, suffixes: Sequence[str]) -> dict[str, list[Path]]:
    """The files of a folder whose names say train, val or test (or valid, dev, ...), by split."""
    found: dict[str, list[Path]] = {}
    for file in sorted(folder.iterdir()):
        split = _split_of(file.name)
        if split and file.is_file() and file.name.removesuffix(".gz").lower().endswith(tuple(suffixes)):
            found.setdefault(split, []).append(file)
    return found if "train" in found else {}


def _split_of(name: str) -> str | None:
    return next((split for split, words in SPLIT_NAMES.items() if words.search(name)), None)


def identity(file: Path) -> list[str | int]:
    """What tells that a file is still the same: where it stands, its size and when it was written."""
    status = file.stat()
    return [str(file.absolute()), status.st_size, status.st_mtime_ns]


def existing(path: str | Path, key: str, expected: str) -> Path:
    """`path` if something is there. Raises DataError with the layout that is expected."""
    found = Path(path).expanduser()
    try:
        found.stat()
    except OSError as error:
        raise DataError(f"{found}: {error.strerror or error} ({key}); expected: {expected}") from error
    return found
