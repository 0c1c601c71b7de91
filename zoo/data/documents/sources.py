"""Documents in class folders: each text file is a document, and the name of its folder is its class."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from zoo.data.documents.readers import Row
from zoo.data.rows import BadRows, decode_file, reading
from zoo.data.sources import SPLITS, Source, identity, split_of
from zoo.errors import DataError


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
        names = [file.relative_to(path).as_posix() for file in path.rglob("*.txt") if file.is_file()]
    else:
        with reading(path):
            archive = zipfile.ZipFile(path)
        root, names = zipfile.Path(archive), [name for name in archive.namelist() if name.endswith(".txt")]
    parts = {name: name.split("/") for name in names}
    hidden = {name for name in names if any(part.startswith(".") or part == "__MACOSX" for part in parts[name])}
    return root, sorted(name for name in names if len(parts[name]) > 1 and name not in hidden)
