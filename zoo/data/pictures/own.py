"""Pictures of your own: a folder of files, or one folder for each class, with or without folders for the splits."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Required, Unpack

from zoo.data.captions.decoding import UnusablePicture
from zoo.data.captions.files import SUFFIXES
from zoo.data.corpus import OwnFiles
from zoo.data.folders import files_of_splits
from zoo.data.pictures.module import PictureArguments, PictureData
from zoo.data.pictures.options import ShapeOptions
from zoo.data.pictures.reading import OTHER_SIZE, Picture, Shape, read
from zoo.data.rows import BadRows
from zoo.data.sources import Source, identity, path_source


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
        files = files_of_splits(path, SUFFIXES, "picture")
        if files is None:
            return None
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
