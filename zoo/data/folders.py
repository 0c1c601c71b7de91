"""Files of your own in folders: all in one folder, or in one folder for each class, with or without folders for the
splits."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from zoo.data.rows import visible
from zoo.data.sources import SPLITS, split_of
from zoo.errors import DataError


class ClassFile(NamedTuple):
    """A file, and the folder that names its class."""

    path: Path
    label: str | None


def files_of_splits(path: Path, suffixes: Collection[str], noun: str) -> dict[str, Sequence[ClassFile]] | None:
    """The files of each split in a folder, which are all `train` without folders for the splits.

    Args:
        path: the folder.
        suffixes: the endings of the files, in small letters with a dot.
        noun: the name of a file in messages.

    Returns:
        The files by split; None for a path without such files.

    Raises:
        DataError: a split or a class is empty, there are splits without `train`, or files beside folders of classes.
    """
    if not path.is_dir():
        return None
    named = {split_of(folder.name): folder for folder in visible(path) if folder.is_dir()}
    folders = {split: named[split] for split in SPLITS if split in named}
    if folders and "train" not in folders:
        found = " and ".join(f"{folder.name}/" for folder in folders.values())
        raise DataError(f"{path}: found {found} and no train/; add it, or rename the folders if they are classes")
    files = {split: _files(folder, suffixes, noun) for split, folder in (folders or {"train": path}).items()}
    if not folders and not files["train"]:
        return None
    _alike(folders, files, noun)
    return files


def _alike(folders: Mapping[str, Path], files: Mapping[str, Sequence[ClassFile]], noun: str) -> None:
    """Raise DataError for the folder of a split without files, or with classes where `train` has none, or the
    reverse."""
    for split, folder in folders.items():
        if not files[split]:
            raise DataError(f"{folder}: no {noun} in it; add some, or remove the folder")
        found, expected = (
            "folders of classes" if files[one][0].label is not None else f"{noun}s without classes"
            for one in (split, "train")
        )
        if found != expected:
            raise DataError(f"{folder}: found {found}, expected {expected} as in {folders['train'].name}/")


def _files(folder: Path, suffixes: Collection[str], noun: str) -> Sequence[ClassFile]:
    inside = visible(folder)
    alone = [ClassFile(path, None) for path in inside if path.is_file() and path.suffix.lower() in suffixes]
    classes = [path for path in inside if path.is_dir()]
    if alone and classes:
        raise DataError(
            f"{folder}: found {alone[0].path.name} beside the folder {classes[0].name}/; expected {noun}s, or a "
            "folder for each class, and not both"
        )
    found = list(alone)
    for one in classes:
        files = sorted(path for path in one.rglob("*") if path.suffix.lower() in suffixes and _shown(path, one))
        if not files:
            raise DataError(f"{one}: no {noun} of this class; add some, or remove the folder")
        found += [ClassFile(path, one.name) for path in files]
    return found


def _shown(path: Path, folder: Path) -> bool:
    """Whether a file can be seen: no part of its path below `folder` begins with a dot."""
    return path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
