"""Sources of examples: a generator, the hub, or files. A missing source is never replaced by another one."""

import inspect
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.errors import DataError, or_nearest

Row = TypeVar("Row")
SHOWN_LABELS = 8  # The most labels that a message names
SPLITS = ("train", "val", "test")
HUB_SPLITS = {"train": "train", "val": "validation", "test": "test"}
"""The names of the splits in most repositories of the hub."""
SPLIT_NAMES = {
    name: re.compile(rf"(?<![a-z])(?:{words})(?![a-z])", re.IGNORECASE)
    for name, words in (("train", "train|training"), ("val", "val|valid|validation|dev"), ("test", "test|testing"))
}


@dataclass(frozen=True)
class Source:
    """Examples that can be read, split by split. The constructor reads only names, sizes and dates of files."""

    place: str
    """The file, the repository or the sample, for messages."""
    description: str
    """A line about the source; `{count}` stands for the number of examples."""
    identity: Mapping[str, Any]
    """Plain data that differ if the examples may differ."""
    splits: Mapping[str, Callable[[BadRows], Iterator[Any]]]
    """The reader of each split, `train` first; missing splits are drawn from `train`."""
    classes: tuple[str, ...] | None = None
    """The names of the classes, if the format fixes them; otherwise they are those of the training examples."""


@dataclass(frozen=True)
class Reading:
    """The reading of one split, and the rows that it leaves out."""

    split: str
    bad: BadRows
    dropped: Counter[str]
    """The numbers of examples that are left out, by reason."""
    labels: dict[str, None]
    """The labels of the training examples so far, in the order in which they first occur."""

    @property
    def training(self) -> bool:
        """Whether this is the training split."""
        return self.split == "train"

    def knows(self, label: str, place: str, noun: str) -> bool:
        """Whether a label may occur. Every label of the training split may. A label that is new in a later split is
        reported as a bad row."""
        if self.training:
            self.labels[label] = None
        elif label not in self.labels:
            there = list(self.labels)
            some = ", ".join(map(repr, there[:SHOWN_LABELS])) + ", ..." * (len(there) > SHOWN_LABELS)
            hint = or_nearest(label, there)
            self.bad(
                place, "unknown label", f"{label!r} does not occur in the training {noun}, which have {some}{hint}"
            )
            return False
        return True


class SampleGenerator(Protocol):
    """A function that makes the examples of a sample in sequence. Example i depends only on the seed and on i."""

    def __call__(self, count: int, *, seed: int) -> Iterator[Any]: ...


def sample_source(
    generate: Callable[..., Iterator[Any]], options: SampleOptions, noun: str, /, **arguments: Any
) -> Source:
    """The first examples of a `SampleGenerator`, cut into train, val and test.

    The prepared data of a sample are found by the name, the file and the further `arguments` of its generator, which
    are plain data. Raises TypeError for a generator that may depend on anything else.
    """
    name = getattr(generate, "__qualname__", repr(generate))
    if not inspect.isfunction(generate) or generate.__closure__ or "<" in name:
        raise TypeError(
            f"{name}: a sample is identified by the name, the file and the arguments of its generator, and this one "
            "may depend on more; expected a function of a module, and its arguments besides count and seed as "
            "sample_source(generate, options, noun, NAME=VALUE)"
        )
    unread: dict[int, Iterator[Any]] = {}
    """The unread examples after a split, by the number of the first one: the next split continues with them."""

    def take(first: int, count: int, bad: BadRows) -> Iterator[Any]:
        made = unread.pop(first, None) or islice(generate(options.total, seed=options.seed, **arguments), first, None)
        yield from islice(made, count)
        unread[first + count] = made

    # The examples depend on the code of the generator and on the word lists of its family.
    file = Path(inspect.getfile(generate))
    folder = file.parent if file.parent.name == "samples" else file.parent / "samples"
    files = {file, *folder.glob("*.py"), *folder.glob("*.toml")}
    code = sha256(b"".join(file.read_bytes() for file in sorted(files)))
    first = {"train": 0, "val": options.train, "test": options.train + options.val}
    return Source(
        place="the sample",
        description=f"sample: {{count}} generated {noun}, seed {options.seed}",
        identity={
            "sample": code.hexdigest(),
            "name": name,
            **asdict(options),
            **({"arguments": arguments} if arguments else {}),
        },
        splits={split: partial(take, first[split], getattr(options, split)) for split in SPLITS},
    )


class ReadOnce(Generic[Row]):
    """Reads the rows of all splits when the first split is asked for, and keeps them for the other splits."""

    def __init__(self, read: Callable[[BadRows], Iterator[tuple[str, Row]]]) -> None:
        """`read` yields (split, row)."""
        self._read = read
        self._rows: dict[str, list[Row]] = {}

    def splits(self, names: Sequence[str] = SPLITS) -> dict[str, Callable[[BadRows], Iterator[Row]]]:
        """The readers of a `Source`."""
        return {name: partial(self._split, name) for name in SPLITS if name in names}

    def _split(self, name: str, bad: BadRows) -> Iterator[Row]:
        if not self._rows:
            for split, row in self._read(bad):
                self._rows.setdefault(split, []).append(row)
        return iter(self._rows.get(name, ()))


def hub_source(
    repository: str,
    splits: Mapping[str, str],
    columns: tuple[str, ...],
    read: Callable[[dict[str, Any], str, BadRows], Iterable[Any]],
    noun: str,
    **which: str,
) -> Source:
    """The rows of a repository on the Hugging Face hub.

    Args:
        repository: its name.
        splits: the repository's name for each of our splits.
        columns: the columns that it must have.
        read: gives the row of a record and its place, or reports it to `BadRows` and gives none.
        noun: what a row is, in the plural.
        which: as in `download`.
    """

    def rows(split: str, bad: BadRows) -> Iterator[Any]:
        place = ", ".join([repository, *which.values(), split])
        for number, record in enumerate(download(repository, split, columns, **which), 1):
            yield from read(record, f"{place}, row {number}", bad)

    return Source(
        place=repository,
        description=f"hub: {' '.join([repository, *which.values()])}, {{count}} {noun}",
        identity={"hub": repository, "splits": dict(splits), "columns": list(columns), **which},
        splits={name: partial(rows, split) for name, split in splits.items()},
    )


def download(repository: str, split: str, columns: tuple[str, ...], **which: str) -> Iterable[dict[str, Any]]:
    """A split of a repository on the Hugging Face hub that has these columns; `which` is the `name` of one of several
    configurations, or its folder `data_dir`, or a `revision`. Raises DataError if it cannot be loaded."""
    import datasets

    try:
        found = datasets.load_dataset(repository, **which, split=split)
    except Exception as error:  # errors of the network, the hub and the disk have many classes
        reason = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        raise DataError(
            f"{', '.join([repository, *which.values()])}: the split {split!r} cannot be loaded from the Hugging Face "
            f"hub ({reason}); expected "
            f"parquet files with the columns {' and '.join(columns)}. Go online, or use data.source=sample "
            "or data.source=PATH of the official files"
        ) from error
    if missing := [column for column in columns if column not in found.column_names]:
        raise DataError(f"{repository}: no column {missing[0]!r}; found: {', '.join(found.column_names)}")
    return found


def path_source(
    path: Path, noun: str, splits: Mapping[str, Callable[[BadRows], Iterator[Any]]], **identity: Any
) -> Source:
    """Examples at a path. `noun` is their name in the plural, `identity` as in `Source`."""
    return Source(str(path), f"path: {path}, {{count}} {noun}", identity, splits)


def file_source(
    path: Path, files: Mapping[str, Sequence[Path]], read: Callable[[Path, BadRows], Iterator[Any]], noun: str
) -> Source:
    """Files of one format, any number for each split."""

    def read_all(parts: Sequence[Path], bad: BadRows) -> Iterator[Any]:
        return (row for part in parts for row in read(part, bad))

    splits = {name: partial(read_all, files[name]) for name in SPLITS if name in files}
    stamps = {name: [identity(part) for part in parts] for name, parts in files.items()}
    return path_source(path, noun, splits, files=stamps)


def find_splits(folder: Path, suffixes: Sequence[str]) -> dict[str, list[Path]]:
    """The files of a folder by split, if their names contain train, val or test (or valid, dev, ...). Hidden files,
    such as ._train.txt, are ignored."""
    found: dict[str, list[Path]] = {}
    for file in sorted(folder.iterdir()):
        split = None if file.name.startswith(".") else split_of(file.name)
        if split and file.is_file() and file.name.removesuffix(".gz").lower().endswith(tuple(suffixes)):
            found.setdefault(split, []).append(file)
    return found if "train" in found else {}


def split_of(name: str) -> str | None:
    """The split in the name of a file or a folder: train, val or test."""
    return next((split for split, words in SPLIT_NAMES.items() if words.search(name)), None)


def identity(file: Path) -> list[str | int]:
    """The path, size and date of a file, which show whether it has changed."""
    status = file.stat()
    return [str(file.absolute()), status.st_size, status.st_mtime_ns]


def folder_identity(folder: Path, suffix: str) -> list[Any]:
    """A short value that shows whether the files of a folder with this suffix have changed; there may be a million
    files. Names that begin with a dot are ignored."""
    with os.scandir(folder) as entries:
        files = {e.name: e.stat() for e in entries if e.name.endswith(suffix) and not e.name.startswith(".")}
    found = sha256("".join(f"{n} {files[n].st_size} {files[n].st_mtime_ns}\n" for n in sorted(files)).encode())
    return [str(folder.absolute()), len(files), found.hexdigest()]


def existing(path: str | Path, key: str, expected: str) -> Path:
    """`path` as a Path. Raises DataError, with the `expected` layout, if nothing is there."""
    found = Path(path).expanduser()
    try:
        found.stat()
    except OSError as error:
        raise DataError(f"{found}: {error.strerror or error} ({key}); expected: {expected}") from error
    return found
