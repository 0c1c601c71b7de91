"""Where documents come from: a sample, the hub, class folders or tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from zoo.data.documents.readers import Row, class_files, matching, read_class_files, read_table
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, Source, download, file_source, identity, split_of
from zoo.errors import DataError


class Sample(Protocol):
    """A generated document: its words, which of them decided the class, and the class."""

    @property
    def sentences(self) -> Sequence[Sequence[str]]: ...
    @property
    def evidence(self) -> Sequence[Sequence[bool]]: ...
    @property
    def label(self) -> int: ...


@dataclass(frozen=True)
class DocumentSource(Source):
    """Documents: its readers give `Row`s, or `Sample`s where they are generated."""

    classes: tuple[str, ...] | None
    """Names of the classes, None where they are found in the documents."""
    generated: bool = False


def hub_source(
    repository: str, splits: Sequence[str], text: Callable[[str], str], classes: tuple[str, ...], noun: str
) -> DocumentSource:
    """A set of texts with labels on the Hugging Face hub, kept in the cache of `datasets`."""

    def read(split: str, bad: BadRows) -> Iterator[Row]:
        for number, record in enumerate(download(repository, split, ("text", "label")), 1):
            place = f"{repository}, {split}, row {number}"
            if not isinstance(record["label"], int) or not 0 <= record["label"] < len(classes):
                bad(place, "label out of range", f"expected 0 to {len(classes) - 1}, found {record['label']!r}")
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
        splits.setdefault(split_of(Path(name).parent.parent.name) or "train", []).append(name)
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
