"""Images with captions on the disk: a row for each caption, one for each picture, and the pictures themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import datasets
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.images.about import About
from zoo.data.images.pictures import Pictures
from zoo.data.stored import ROWS, StoredSplit, numbers_of


class Captioned(NamedTuple):
    """Some captions of a prepared split, and their pictures, each once."""

    table: pa.Table
    """A row for each of B captions."""
    picture: NDArray[np.int64]
    """(B,) which of the pictures each is of."""
    images: Tensor
    """(I, C, H, W) pixels, or features."""
    numbers: NDArray[np.int64]
    """(I,) which of the split they are."""
    about: tuple[About, ...] | None
    """Of each of them; only for evaluation."""


class CaptionedPictures(StoredSplit):
    """The captions of a prepared split with their pictures; for evaluation with what is known of these.

    It is asked for captions by their numbers, which `zoo.data.images.order` gives: number % N is the caption, number //
    N the epoch. A picture stands once in what it gives, and is read once, whatever the number of its captions there.
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
        """A row of `captions` has the number under which its picture is stored, the ids of its tokens and where they
        name an object; those of a picture follow one another. A row of `images` has that number, a name, all captions
        as they stood in their file, and facts; `pictures` are those of all splits, and `files` theirs, where they are
        features of files."""
        more = ("named", "boxes") if evaluation else ()
        super().__init__(captions, ("ids", *more), numbers_of(captions, "num_ids") + 1)  # with its end
        self.pictures, self.evaluation, self.files = pictures, evaluation, files
        self._images = images.with_format("arrow", columns=["name", "captions", "facts"])
        self._stored: NDArray[np.int64] = numbers_of(images, "stored").astype(np.int64)
        self.image_of: NDArray[np.int64] = self._stored.searchsorted(numbers_of(captions, "stored"))
        """(N,) the picture that each caption is of."""
        self.captions_of: NDArray[np.int64] = np.bincount(self.image_of, minlength=len(images))
        """(I,) captions of each picture."""

    def __getitem__(self, index: int) -> Captioned:  # type: ignore[override]
        return self.__getitems__([index])

    def __getitems__(self, index: list[int]) -> Captioned:  # type: ignore[override]
        epochs, captions = np.divmod(np.asarray(index, np.int64), len(self))
        _, first, place = np.unique(self.image_of[captions], return_index=True, return_inverse=True)
        turn = first.argsort()  # as they come
        numbers = self.image_of[captions[first[turn]]]
        stored = self._stored[numbers].tolist()
        return Captioned(
            self._examples[captions.tolist()],
            turn.argsort()[place],
            self.pictures[stored] if self.evaluation else self.pictures.changed(stored, int(epochs[0])),
            numbers,
            self.about(numbers) if self.evaluation else None,
        )

    def ids(self) -> Iterator[list[list[int]]]:
        """The ids of all captions of each picture, without their ends, picture by picture."""
        for first in range(0, len(self.captions_of), ROWS):
            many = self.captions_of[first : first + ROWS].tolist()
            begin = int(self.captions_of[:first].sum())
            captions = iter(self._examples[begin : begin + sum(many)]["ids"].to_pylist())
            yield from (list(islice(captions, count)) for count in many)

    def about(self, numbers: NDArray[np.int64]) -> tuple[About, ...]:
        """What is known of some pictures."""
        rows = self._images[numbers.tolist()].to_pylist()
        stored = self._stored[numbers].tolist()
        files = [None] * len(stored) if self.files is None else [self.files[number] for number in stored]
        return tuple(
            About(row["name"], tuple(row["captions"]), row["facts"] and json.loads(row["facts"]), file)
            for row, file in zip(rows, files, strict=True)
        )
