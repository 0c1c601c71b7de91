"""From descriptions of image files to a source: the files are looked for, and each is opened once to see that it can
be."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from unicodedata import normalize

from zoo.data.cache import fingerprint
from zoo.data.images.decoding import UnusablePicture, problem
from zoo.data.images.options import PictureOptions
from zoo.data.images.readers import Described
from zoo.data.images.row import ImageRow
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, Source, identity
from zoo.errors import DataError, or_nearest

NOUN = "images"
FOLDER_KEY = "data.images"
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}
LOOKED_AT = 50
"""Images by which the folder is found that they are in."""
VARYING = ("random_crop", "flip")
"""Keys by which no picture becomes usable or not."""
AT_ONCE = 64
"""Images that wait to be looked at."""

Read = Callable[[BadRows], Iterator[Described]]


@dataclass
class FileSource:
    """Images in files, described by files of text. `source` makes a Source of it."""

    place: Path
    """What the user gave."""
    texts: Sequence[Path]
    """The files that `read` reads."""
    read: Read
    """All images, in whatever split."""
    splits: Sequence[str]
    """Those that `read` tells; images without one are of train."""
    picture: PictureOptions
    folder: str | None = None
    """The images' folder or one above it; None: beside the first of `texts`."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else the images and captions follow from, as plain data."""
    noun: str = NOUN
    _described: list[Described] | None = None
    _held: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By the whole path of an image its split, and where that is said."""

    def source(self) -> Source:
        """Images whose rows are read when they are asked for, and then once for all splits."""
        root = self._root()
        return Source(
            place=str(self.place),
            description=f"path: {self.place}, {{count}} {self.noun}",
            identity={
                "files": [identity(text) for text in self.texts],
                **told_apart([root], self.picture),
                **self.facts,
            },
            splits={split: partial(self._rows, split) for split in SPLITS if split in self.splits},
        )

    def _root(self) -> Path:
        if self.folder is None:
            return self.texts[0].parent
        root = Path(self.folder).expanduser()
        if not root.is_dir():
            found = "is no folder" if root.exists() else "there is no such folder"
            raise DataError(f"{root}: {found} ({FOLDER_KEY}); expected the folder of the images, or one above it")
        return root

    def _rows(self, split: str, bad: BadRows) -> Iterator[ImageRow]:
        if self._described is None:
            self._described = list(self.read(bad))
        described = [one for one in self._described if (one.split or "train") == split]
        found, missing = self._located(described)
        if missing and bad.policy == "error":
            raise DataError(self._missing(described, missing))
        for one in missing:
            bad(one.place, "missing image", f"there is no {one.file!r}")
        return usable(self._once(found, split, bad), self.picture, bad)

    def _once(self, rows: Sequence[ImageRow], split: str, bad: BadRows) -> list[ImageRow]:
        """The images, each once with all its captions, however its file is spelt: by its name, by its whole path. One
        that is in another split, too, goes to `bad`."""
        found: dict[str, ImageRow] = {}
        for row in rows:
            assert isinstance(row.picture, Path)
            path = os.path.abspath(row.picture)
            of, place = self._held.setdefault(path, (split, row.place))
            if of != split:
                bad(row.place, "one image in two splits", f"{row.name!r} is of {split!r} here and of {of!r} in {place}")
            elif path in found:
                known = found[path]
                found[path] = known._replace(captions=known.captions + row.captions)
            else:
                found[path] = row
        return list(found.values())

    def _located(self, described: list[Described]) -> tuple[list[ImageRow], list[Described]]:
        """The images that are there, and the others."""
        if not described:
            return [], []
        root = folder_of([one.file for one in described], self._root())
        if root is None:
            inside = ", ".join(str(folder.relative_to(self._root())) for folder in folders(self._root())[1:9])
            near = or_nearest(described[0].file, os.listdir(self._root()))
            raise DataError(
                f"{self._root()}: none of {len(described):,} {NOUN} is in this folder or in one of its own "
                f"({inside or 'it has none'}), such as {described[0].file!r} of {described[0].place}"
                f"{f'{near} Else' if near else ';'} give their folder as {FOLDER_KEY}=FOLDER"
            )
        names = Names()
        found, missing = [], []
        for one in described:
            if path := names.find(root / one.file):
                found.append(ImageRow(one.file, path, one.captions, one.place))
            else:
                missing.append(one)
        return found, missing

    def _missing(self, described: list[Described], missing: list[Described]) -> str:
        root = folder_of([one.file for one in described], self._root())
        assert root is not None
        named = ", ".join(repr(one.file) for one in missing[:3])
        more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
        near = or_nearest(missing[0].file, os.listdir(root))
        count = f"{len(missing):,} of {len(described):,} {NOUN} {'is' if len(missing) == 1 else 'are'} not in {root}"
        return (
            f"{missing[0].place}: {count}: {named}{more}{f'{near} Else' if near else ';'} add what is missing, give "
            f"another folder as {FOLDER_KEY}=FOLDER, or leave them out by data.loader.on_bad_row=skip"
        )


def told_apart(roots: Sequence[Path], options: PictureOptions) -> dict[str, Any]:
    """Plain data by which it is known whether the images in some folders, or how they are seen, have changed."""
    inside = {str(folder): found for root in roots for folder in _below(root) if (found := _images(folder))}
    seen = {key: value for key, value in asdict(options).items() if key not in VARYING}
    return {"images": fingerprint(inside), "picture": seen}


def folders(root: Path) -> list[Path]:
    """A folder, those in it, and those in these."""
    inside = _inside(root)
    return [root, *inside, *chain.from_iterable(map(_inside, inside))]


def _below(root: Path) -> Iterator[Path]:
    """A folder and all below it, each once, even where links lead round in a circle."""
    waiting, seen = [root], set()
    while waiting:
        folder = waiting.pop()
        if (real := os.path.realpath(folder)) not in seen:
            seen.add(real)
            yield folder
            waiting += reversed(_inside(folder))


def _inside(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    except PermissionError:
        return []


def _images(folder: Path) -> list[tuple[str, int]]:
    """Name and size of the images in a folder; other files come and go without a change of the data."""
    try:
        with os.scandir(folder) as entries:
            found = (
                entry for entry in entries if Path(entry.name).suffix.lower() in SUFFIXES and _is_visible_file(entry)
            )
            return sorted((entry.name, entry.stat().st_size) for entry in found)
    except PermissionError:
        return []


def _is_visible_file(entry: os.DirEntry[str]) -> bool:
    """False for a hidden file, a folder, a pipe, and a link that leads nowhere or to itself."""
    try:
        return not entry.name.startswith(".") and entry.is_file()
    except OSError:
        return False


class Names:
    """The files of folders, each folder listed once."""

    def __init__(self) -> None:
        self._there: dict[Path, dict[str, str]] = {}

    def find(self, path: Path) -> Path | None:
        """The file at `path`, whether its system writes an ä in one letter or, as macOS does, in two."""
        if path.parent not in self._there:
            names = os.listdir(path.parent) if path.parent.is_dir() else []
            self._there[path.parent] = {normalize("NFC", name): name for name in names} | {name: name for name in names}
        there = self._there[path.parent]
        name = there.get(path.name) or there.get(normalize("NFC", path.name))
        return path.with_name(name) if name else None


def folder_of(files: Sequence[str], root: Path) -> Path | None:
    """The one of `folders(root)` that has most of some files; None where none has any."""
    some = files[:: max(1, len(files) // LOOKED_AT)]
    names = Names()
    count = {folder: sum(names.find(folder / file) is not None for file in some) for folder in folders(root)}
    if not any(count.values()) and len(some) < len(files):
        count = {folder: sum(names.find(folder / file) is not None for file in files) for folder in count}
    best = max(count, key=count.__getitem__)
    return best if count[best] else None


def usable(rows: Iterator[ImageRow] | Sequence[ImageRow], options: PictureOptions, bad: BadRows) -> Iterator[ImageRow]:
    """The rows, in order, whose files are pictures that a network can see; the others go to `bad`. Several are looked
    at at the same time."""
    waiting: deque[tuple[ImageRow, Future[UnusablePicture | None]]] = deque()
    with ThreadPoolExecutor(os.cpu_count()) as pool:

        def first() -> Iterator[ImageRow]:
            row, looked = waiting.popleft()
            wrong = looked.result()
            if wrong is None:
                yield row
            else:
                bad(f"{row.place}: {wrong.place}", wrong.problem, wrong.detail)

        try:
            for row in rows:
                assert isinstance(row.picture, Path)
                waiting.append((row, pool.submit(problem, row.picture, options)))
                if len(waiting) > AT_ONCE:
                    yield from first()
            while waiting:
                yield from first()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
