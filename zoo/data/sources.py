"""Where examples come from: a generator inside, the hub, or files; none of them is ever taken in another's place."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import datasets

from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.errors import DataError

SPLITS = ("train", "val", "test")
SPLIT_NAMES = {
    name: re.compile(rf"(?<![a-z])(?:{words})(?![a-z])", re.IGNORECASE)
    for name, words in (("train", "train|training"), ("val", "val|valid|validation|dev"), ("test", "test|testing"))
}


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


class SampleGenerator(Protocol):
    """A function that makes the examples of a sample one after the other; example i depends on the seed and on i
    alone."""

    def __call__(self, count: int, *, seed: int) -> Iterator[Any]: ...


def sample_source(
    generate: Callable[..., Iterator[Any]], options: SampleOptions, noun: str, /, **arguments: Any
) -> Source:
    """The first examples of a `SampleGenerator`, cut into train, val and test. What else it takes is given as
    `arguments`, plain data, by which one sample is told from another. Raises TypeError for a generator that may hold
    what neither its name nor its file tells."""
    name = getattr(generate, "__qualname__", repr(generate))
    if not inspect.isfunction(generate) or generate.__closure__ or "<" in name:
        raise TypeError(
            f"{name}: a sample is known by the name, the file and the arguments of its generator, and this one may "
            "hold more than these; expected a function that stands in a module by itself, and what it takes besides "
            "count and seed as sample_source(generate, options, noun, NAME=VALUE)"
        )
    behind: dict[int, Iterator[Any]] = {}
    """By the number of its next example, what a reader left: who reads split after split has no example made twice."""

    def take(first: int, count: int, bad: BadRows) -> Iterator[Any]:
        made = behind.pop(first, None)
        made = made or islice(generate(options.total, seed=options.seed, **arguments), first, None)
        yield from islice(made, count)
        behind[first + count] = made

    # What a generator makes follows from its code and from the word lists of its family.
    file = Path(inspect.getfile(generate))
    folder = file.parent if file.parent.name == "samples" else file.parent / "samples"
    files = {file, *folder.glob("*.py")}
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


def download(repository: str, split: str, columns: tuple[str, ...], **which: str) -> Iterable[dict[str, Any]]:
    """A split of a repository on the Hugging Face hub that has these columns; `which` is the `name` of one of several
    configurations, or its folder `data_dir`, or a `revision`. Raises DataError where it cannot be had."""
    try:
        found = datasets.load_dataset(repository, **which, split=split)
    except Exception as error:  # whatever the network, the hub or the disk may come up with
        reason = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        raise DataError(
            f"{', '.join([repository, *which.values()])}: the split {split!r} cannot be loaded from the Hugging Face "
            f"hub ({reason}); expected "
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


def find_splits(folder: Path, suffixes: Sequence[str]) -> dict[str, list[Path]]:
    """The files of a folder whose names say train, val or test (or valid, dev, ...), by split; not what a system hides
    there, such as ._train.txt."""
    found: dict[str, list[Path]] = {}
    for file in sorted(folder.iterdir()):
        split = None if file.name.startswith(".") else split_of(file.name)
        if split and file.is_file() and file.name.removesuffix(".gz").lower().endswith(tuple(suffixes)):
            found.setdefault(split, []).append(file)
    return found if "train" in found else {}


def split_of(name: str) -> str | None:
    """The split that the name of a file or a folder says: train, val or test."""
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
