"""A prepared split: a table of captions, a table of images, and the pictures themselves."""

import json
from collections.abc import Sequence
from typing import NamedTuple

import datasets
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.images.batch import ImageDescription
from zoo.data.images.pictures import Pictures
from zoo.data.stored import StoredSplit, numbers_of


class CaptionRows(NamedTuple):
    """Some captions of a prepared split, and their pictures, each once."""

    table: pa.Table  # A row for each of B captions
    picture: NDArray[np.int64]  # (B,) the picture of each caption
    images: Tensor  # (I, C, H, W) pixels, or features
    numbers: NDArray[np.int64]  # (I,) the numbers of the images in the split
    about: tuple[ImageDescription, ...] | None  # The description of each image, only for evaluation


class CaptionedPictures(StoredSplit):
    """The captions of a prepared split with their pictures, and for evaluation with descriptions of these.

    Captions are indexed by the numbers of `zoo.data.images.order`: number % N is the caption, number // N the epoch.
    """

    def __init__(
        self,
        captions: datasets.Dataset,
        images: datasets.Dataset,
        pictures: Pictures,
        *,
        evaluation: bool,
        files: Sequence[str] | None = None,
    ) -> None:
        """The captions of an image are consecutive rows; the column `stored` of both tables is the number of the
        picture. `files` are the paths of all pictures, if `pictures` are the features of files."""
        more = ("named", "boxes") if evaluation else ()
        super().__init__(captions, ("ids", *more), numbers_of(captions, "num_ids") + 1)  # with the end
        self.pictures, self.evaluation, self.files = pictures, evaluation, files
        self._images = images.with_format("arrow")
        self._stored: NDArray[np.int64] = numbers_of(images, "stored").astype(np.int64)
        self.image_of: NDArray[np.int64] = self._stored.searchsorted(numbers_of(captions, "stored"))
        """(N,) the image of each caption."""
        self.captions_of: NDArray[np.int64] = np.bincount(self.image_of, minlength=len(images))
        """(I,) the number of captions of each image."""

    def __getitem__(self, index: int) -> CaptionRows:  # type: ignore[override]
        return self.__getitems__([index])

    def __getitems__(self, index: list[int]) -> CaptionRows:  # type: ignore[override]
        epochs, captions = np.divmod(np.asarray(index, np.int64), len(self))
        _, first, place = np.unique(self.image_of[captions], return_index=True, return_inverse=True)
        turn = first.argsort()  # images in the order of their first captions
        numbers = self.image_of[captions[first[turn]]]
        stored = self._stored[numbers].tolist()
        return CaptionRows(
            self._examples[captions.tolist()],
            turn.argsort()[place],
            self.pictures[stored] if self.evaluation else self.pictures.changed(stored, int(epochs[0])),
            numbers,
            self.about(numbers) if self.evaluation else None,
        )

    def about(self, numbers: NDArray[np.int64]) -> tuple[ImageDescription, ...]:
        """Describes some images."""
        rows = self._images[numbers.tolist()].to_pylist()
        stored = self._stored[numbers].tolist()
        files = [None if self.files is None else self.files[number] for number in stored]
        return tuple(
            ImageDescription(row["name"], tuple(row["captions"]), json.loads(row.get("facts") or "null"), file)
            for row, file in zip(rows, files, strict=True)
        )
