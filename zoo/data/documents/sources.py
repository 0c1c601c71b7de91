"""Sources of documents, and the classes that they fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from zoo.data.documents.readers import Row, class_files, matching, read_class_files
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, Source, identity, split_of
from zoo.errors import DataError


@dataclass(frozen=True)
class DocumentSource(Source):
    """Documents. The readers give `Row`s, or the documents of a generator with `sentences` and `evidence`."""

    classes: tuple[str, ...] | None
    """The names of the classes; None if they are those of the training documents."""


def with_classes(source: Source, classes: tuple[str, ...] | None) -> DocumentSource:
    """The source with its classes."""
    return DocumentSource(**vars(source), classes=classes)


def folder_source(
    path: Path, noun: str, *, classes: Mapping[str, str] | None = None, patterns: Mapping[str, str] | None = None
) -> DocumentSource | None:
    """Each text file is a document. Files are in folders with the names of the classes, which may be in folders called
    train, test, ..., or in a .zip of that. None if there are no such files.

    Args:
        path: the folder or the .zip.
        noun: what a document is, in the plural.
        classes: the folders to read, and the names of their classes; None reads all folders.
        patterns: for some splits, the pattern of the names of their files.
    """
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
            raise DataError(f"{path}: holds a folder of {split} documents; remove data.split.{split}={pattern!r}")
        chosen = matching(splits["train"], pattern)
        if not chosen or len(chosen) == len(splits["train"]):
            every = f"{'all' if chosen else 'none'} of {len(splits['train']):,} files, such as {splits['train'][0]}"
            raise DataError(f"{path}: data.split.{split}={pattern!r} is a pattern of file names here, and fits {every}")
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
