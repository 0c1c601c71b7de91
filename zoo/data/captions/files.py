"""Sources of files of pictures or clips that text files describe. The files are searched, and opened once to check
them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from zoo.data.cache import fingerprint
from zoo.data.captions.decoding import UnusablePicture, problem
from zoo.data.captions.options import PictureOptions
from zoo.data.captions.pictures import PictureRow
from zoo.data.captions.readers import CaptionedFile
from zoo.data.rows import BadRows
from zoo.data.sources import ReadOnce, Source, identity
from zoo.errors import DataError, or_nearest

SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
SEARCHED = 50  # Images that are searched in each folder to find the right one
VARYING = ("random_crop", "flip")
"""Keys of pictures that do not decide whether a picture can be used."""
CHECKED = 64  # Images that are checked at the same time

Reader = Callable[[BadRows], Iterator[PictureRow]]


def whole(row: PictureRow, options: PictureOptions) -> PictureRow:
    """The row of an image that a network can see. Raises UnusablePicture for another one."""
    if (wrong := problem(row.picture, options)) is not None:
        raise wrong
    return row


class Medium(NamedTuple):
    """The kind of files that texts describe."""

    noun: str  # The name of one of them
    key: str  # The key of the folder with all of them
    suffixes: set[str]
    """The ends of the names of all files that are read; the files of a kind are stored anew if one of them changes."""
    check: Callable[[PictureRow, PictureOptions], PictureRow]
    """Opens the file of a row. Raises UnusablePicture if a network cannot see it."""

    @property
    def plural(self) -> str:
        return f"{self.noun}s"


IMAGES = Medium("image", "data.images", SUFFIXES, whole)


def captioned_files(
    place: Path,
    texts: Sequence[Path],
    read: Callable[[BadRows], Iterator[CaptionedFile]],
    splits: Sequence[str],
    picture: PictureOptions,
    facts: Mapping[str, Any],
    *,
    images: str | None,
    noun: str = "",
    medium: Medium = IMAGES,
) -> Source:
    """The source of pictures or clips that text files describe.

    Args:
        place: the path that the user gave.
        texts: the files that `read` reads.
        read: reads the captions of all splits; files without a split belong to `train`.
        splits: the splits that occur.
        picture: how pictures are prepared.
        facts: other plain data that the captions depend on.
        images: the folder of the files, or its parent; None: the folder of the first text file.
        noun: the plural name of the files in the description.
        medium: the kind of the files.

    Raises:
        DataError: the folder does not exist.
    """
    root = Path(images).expanduser() if images else texts[0].parent
    if not root.is_dir():
        found = "is not a folder" if root.exists() else "folder not found"
        raise DataError(f"{root}: {found} ({medium.key}); expected the folder of the {medium.plural}, or its parent")
    return Source(
        place=str(place),
        description=f"path: {place}, {{count}} {noun or medium.plural}",
        identity={
            "files": [identity(text) for text in texts],
            **images_identity([root], picture, medium.suffixes),
            **facts,
        },
        splits=checked_splits(lambda bad: _joined(read(bad), root, bad, medium), splits, picture, medium.check),
    )


def checked_splits(
    read: Callable[[BadRows], Iterator[tuple[str, PictureRow]]],
    splits: Sequence[str],
    picture: PictureOptions,
    check: Callable[[PictureRow, PictureOptions], PictureRow] = whole,
) -> Mapping[str, Reader]:
    """Readers of the splits from `read`, which yields (split, row) and is called once. Each file is opened, and one
    that a network cannot see is a bad row."""
    return {name: partial(_usable, split, picture, check) for name, split in ReadOnce(read).splits(splits).items()}


def _usable(
    read: Reader,
    picture: PictureOptions,
    check: Callable[[PictureRow, PictureOptions], PictureRow],
    bad: BadRows,
) -> Iterator[PictureRow]:
    def checked(row: PictureRow) -> PictureRow | UnusablePicture:
        try:
            return check(row, picture)
        except UnusablePicture as error:
            return error

    rows, pool = read(bad), ThreadPoolExecutor(os.cpu_count())
    try:
        while some := list(islice(rows, CHECKED)):
            for row, found in zip(some, pool.map(checked, some), strict=True):
                if isinstance(found, PictureRow):
                    yield found
                else:
                    bad(f"{row.place}: {found.place}", found.problem, found.detail)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


# Captions to files


def _joined(
    described: Iterable[CaptionedFile], root: Path, bad: BadRows, medium: Medium
) -> Iterator[tuple[str, PictureRow]]:
    """(split, row) of the files that exist, each with all its captions, whether a caption gives its name or its whole
    path. A file in a second split is a bad row."""
    by_split: dict[str, list[CaptionedFile]] = {}
    for one in described:
        by_split.setdefault(one.split or "train", []).append(one)
    found: dict[str, tuple[str, PictureRow]] = {}
    for split, some in by_split.items():
        paths = _paths(some, root, bad, medium)
        for one in some:
            if (path := paths[one.file]) is None:
                continue
            name = os.path.abspath(path)
            other, row = found.setdefault(name, (split, PictureRow(one.file, path, (), one.place)))
            if other == split:
                found[name] = split, row._replace(captions=row.captions + one.captions)
            else:
                detail = f"{one.file!r} is in {split!r} here and in {other!r} in {row.place}"
                bad(one.place, f"one {medium.noun} in two splits", detail)
    return iter(found.values())


def _paths(described: Sequence[CaptionedFile], root: Path, bad: BadRows, medium: Medium) -> dict[str, Path | None]:
    """The path of each file of one split. Missing files are bad rows; raises DataError if all are missing."""
    first: dict[str, CaptionedFile] = {}
    for one in described:
        first.setdefault(one.file, one)
    files = list(first)
    folder = folder_of(files, root)
    if folder is None:
        inside = ", ".join(str(folder.relative_to(root)) for folder in folders(root)[1:9])
        near = or_nearest(files[0], os.listdir(root))
        raise DataError(
            f"{root}: none of {len(files):,} {medium.plural} is in this folder or in one of its own "
            f"({inside or 'it has none'}), such as {files[0]!r} of {first[files[0]].place}"
            f"{f'{near} Else' if near else ';'} give their folder as {medium.key}=FOLDER"
        )
    names = FileNames()
    paths = {file: names.find(folder / file) for file in files}
    missing = [first[file] for file, path in paths.items() if path is None]
    if missing and bad.policy == "error":
        some = ", ".join(repr(one.file) for one in missing[:3])
        more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
        near = or_nearest(missing[0].file, os.listdir(folder))
        verb = "is" if len(missing) == 1 else "are"
        raise DataError(
            f"{missing[0].place}: {len(missing):,} of {len(files):,} {medium.plural} {verb} not in {folder}: "
            f"{some}{more}"
            f"{f'{near} Else' if near else ';'} add what is missing, give another folder as {medium.key}=FOLDER, or "
            "leave them out by data.loader.on_bad_row=skip"
        )
    for one in missing:
        bad(one.place, f"missing {medium.noun}", f"there is no {one.file!r}")
    return paths


class FileNames(dict[Path, dict[str, str]]):
    """The names of the files in folders. Each folder is listed once."""

    def __missing__(self, folder: Path) -> dict[str, str]:
        names = os.listdir(folder) if folder.is_dir() else []
        self[folder] = {normalize("NFC", name): name for name in names} | {name: name for name in names}
        return self[folder]

    def find(self, path: Path) -> Path | None:
        """The file at `path`. An ä may be one letter or, as macOS writes it, two."""
        names = self[path.parent]
        name = names.get(path.name) or names.get(normalize("NFC", path.name))
        return path.with_name(name) if name else None


def folder_of(files: Sequence[str], root: Path) -> Path | None:
    """The one of `folders(root)` with most of the files; None if no folder has any."""
    some, names = files[:: max(1, len(files) // SEARCHED)], FileNames()
    count = {folder: sum(names.find(folder / file) is not None for file in some) for folder in folders(root)}
    if not any(count.values()) and len(some) < len(files):
        count = {folder: sum(names.find(folder / file) is not None for file in files) for folder in count}
    best = max(count, key=count.__getitem__)
    return best if count[best] else None


# Folders


def folders(root: Path) -> list[Path]:
    """A folder, the folders in it, and the folders in these."""
    inside = _inside(root)
    return [root, *inside, *chain.from_iterable(map(_inside, inside))]


def _inside(folder: Path) -> list[Path]:
    _, names, _ = next(os.walk(folder), ("", [], []))
    return [folder / name for name in sorted(names) if not name.startswith(".")]


def images_identity(roots: Sequence[Path], picture: PictureOptions, suffixes: set[str] = SUFFIXES) -> dict[str, Any]:
    """Plain data that differ if the files in or below some folders have changed, or the way they are prepared."""
    files = {folder: found for root in roots for folder, found in image_files(root, suffixes) if found}
    prepared = {key: value for key, value in asdict(picture).items() if key not in VARYING}
    return {"images": fingerprint(files), "picture": prepared}


def image_files(root: Path, suffixes: set[str] = SUFFIXES) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Each folder in or below `root`, once, with the names and sizes of its files of these suffixes. Links may form a
    circle; hidden files, pipes and broken links are left out."""
    known: set[str] = set()
    for folder, inside, names in os.walk(root, followlinks=True):
        new = os.path.realpath(folder) not in known
        known.add(os.path.realpath(folder))
        inside[:] = sorted(name for name in inside if new and not name.startswith("."))
        paths = ((name, os.path.join(folder, name)) for name in sorted(names) if not name.startswith("."))
        images = ((name, path) for name, path in paths if Path(name).suffix.lower() in suffixes)
        if new:
            yield folder, [(name, os.path.getsize(path)) for name, path in images if os.path.isfile(path)]
