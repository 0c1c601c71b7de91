"""Pictures of your own: a folder of files, or one folder for each class, with or without folders for the splits."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Required, Unpack

from zoo.data.captions.decoding import UnusablePicture
from zoo.data.captions.files import SUFFIXES
from zoo.data.corpus import OwnFiles
from zoo.data.pictures.module import PictureArguments, PictureData
from zoo.data.pictures.options import ShapeOptions
from zoo.data.pictures.reading import OTHER_SIZE, Picture, Shape, read
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, Source, identity, path_source, split_of
from zoo.errors import DataError


class File(NamedTuple):
    """A picture in a folder."""

    path: Path
    label: str | None


class OwnPictureArguments(PictureArguments, total=False):
    """The arguments of `OwnPictures` besides `picture`."""

    path: Required[str]


class OwnPictures(OwnFiles, PictureData):
    """Pictures from `path`. Splits without a folder of their own are drawn by `split.seed`."""

    name = "pictures"
    layout = (
        "a folder of pictures (.png, .jpg, ...), or of a folder for each class, or of train, val and test with either"
    )

    def __init__(
        self, *, picture: Mapping[str, Any] | ShapeOptions | None = None, **rest: Unpack[OwnPictureArguments]
    ) -> None:
        """`picture` is the size and the colours of all pictures, see `ShapeOptions`."""
        super().__init__(**rest)
        self.shape_options = ShapeOptions.of(picture)

    def open_files(self, path: Path) -> Source | None:
        if not path.is_dir():
            return None
        named = {split_of(folder.name): folder for folder in visible(path) if folder.is_dir()}
        folders = {split: named[split] for split in SPLITS if split in named}
        if folders and "train" not in folders:
            found = " and ".join(f"{folder.name}/" for folder in folders.values())
            raise DataError(f"{path}: found {found} and no train/; add it, or rename the folders if they are classes")
        files = {split: self._files(folder) for split, folder in (folders or {"train": path}).items()}
        if not folders and not files["train"]:
            return None
        self._alike(folders, files)
        shape: list[Shape] = []  # of the first picture, which all others must have

        def rows(split: str, bad: BadRows) -> Iterator[Picture]:
            for one in files[split]:
                try:
                    pixels = read(one.path, self.shape_options, shape[0] if shape else None)
                except UnusablePicture as error:
                    scale = "; data.picture.size=N scales all to one" if error.problem == OTHER_SIZE else ""
                    bad(error.place, error.problem, error.detail + scale)
                    continue
                shape[:] = shape or [Shape(*pixels.shape)]
                yield Picture(one.path.name, pixels, one.label, str(one.path))

        stamps = {split: [[*identity(one.path), one.label] for one in some] for split, some in files.items()}
        return path_source(path, "pictures", {split: partial(rows, split) for split in files}, files=stamps)

    @staticmethod
    def _alike(folders: Mapping[str, Path], files: Mapping[str, Sequence[File]]) -> None:
        """Raise DataError for the folder of a split without pictures, or with classes where `train` has none, or the
        reverse."""
        for split, folder in folders.items():
            if not files[split]:
                raise DataError(f"{folder}: no picture in it; add some, or remove the folder")
            found, expected = (
                "folders of classes" if files[one][0].label is not None else "pictures without classes"
                for one in (split, "train")
            )
            if found != expected:
                raise DataError(f"{folder}: found {found}, expected {expected} as in {folders['train'].name}/")

    @staticmethod
    def _files(folder: Path) -> Sequence[File]:
        """The pictures of a folder, or those of the folders of its classes. Raises DataError for an empty class, and
        for pictures beside folders of classes."""
        inside = visible(folder)
        alone = [File(path, None) for path in inside if path.is_file() and path.suffix.lower() in SUFFIXES]
        classes = [path for path in inside if path.is_dir()]
        if alone and classes:
            raise DataError(
                f"{folder}: found {alone[0].path.name} beside the folder {classes[0].name}/; expected pictures, or a "
                "folder for each class, and not both"
            )
        found = list(alone)
        for one in classes:
            files = sorted(path for path in one.rglob("*") if path.suffix.lower() in SUFFIXES and _shown(path, one))
            if not files:
                raise DataError(f"{one}: no picture of this class; add some, or remove the folder")
            found += [File(path, one.name) for path in files]
        return found


def _shown(path: Path, folder: Path) -> bool:
    """Whether a file can be seen: no part of its path below `folder` begins with a dot."""
    return path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
