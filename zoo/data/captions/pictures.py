"""The pictures of a prepared data set, which are stored arrays or files that a batch reads, and their captions."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from zoo.data.cache import fingerprint
from zoo.data.captions.batch import Description
from zoo.data.captions.decoding import seen
from zoo.data.captions.options import PictureOptions
from zoo.data.notes import key
from zoo.data.sources import identity
from zoo.data.stored import StoredSplit, numbers_of
from zoo.errors import DataError

if TYPE_CHECKING:
    import datasets

PIXELS, FILES = "pixels.bin", "files.json"
KEYED = 2**16  # Bytes of a file that distinguish it from others of its size

Shape = tuple[int, int, int]


class PictureRow(NamedTuple):
    """A picture or a clip, and its captions as written in their file; captions may be blank or missing."""

    name: str
    """File name within its folder, or the number of a generated one."""
    picture: NDArray[np.uint8] | Path
    """(H, W, 3) or (F, H, W, 3) pixels, which are stored with the prepared data, or a file that is read when it is
    needed."""
    captions: tuple[str, ...]
    place: str
    """File and line, for messages."""
    facts: Any = None
    """Known facts as plain data, which the family's `Description` reads; only generated data have them."""
    frames: int = 1
    """F, the number of pictures in a file."""


class Pictures(ABC):
    """The pictures of all splits, by the numbers under which they are stored.

    Other processes that make batches get a copy, so that it holds paths and numbers instead of pixels.
    """

    shape: Shape  # C, H, W of each picture
    encoded: bool = False  # Whether the pictures are features instead of pixels
    noun: str = "images"  # The name of several pictures, for the log
    files: Sequence[str] | None = None  # The file of each picture or clip, if they are files

    @abstractmethod
    def __len__(self) -> int:
        """The number of pictures."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Plain data that differ if the pictures may differ."""

    @abstractmethod
    def __getitem__(self, numbers: Sequence[int]) -> Any:
        """(I, C, H, W) of these pictures, in this order: uint8 pixels, or features."""

    def changed(self, numbers: Sequence[int], epoch: int) -> Any:
        """The pictures for training. Random changes depend only on the epoch and on the number of a picture, and so
        not on processes or a resume. By default there are none."""
        return self[numbers]


class StoredPictures(Pictures):
    """Pictures in one file that is mapped into memory: uint8 pixels, or float16 features."""

    def __init__(self, file: Path, shape: Shape, dtype: DTypeLike = np.uint8, count: int = -1) -> None:
        """`file` has arrays of `shape` in sequence. Raises ValueError if their number is not `count`; -1: any."""
        self.file, self.shape, self.dtype, self.encoded = file, shape, dtype, dtype == np.float16
        self._values: NDArray[Any] = np.memmap(file, dtype, "r").reshape(count, *shape)

    def __len__(self) -> int:
        return len(self._values)

    def identity(self) -> dict[str, Any]:
        with self.file.open("rb") as values:
            return {"pixels": file_digest(values, blake2b).hexdigest(), "shape": list(self.shape)}

    def __getitem__(self, numbers: Sequence[int]) -> Tensor:
        return torch.from_numpy(self._values[np.asarray(numbers, np.int64)])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.file, self.shape, self.dtype)  # pickle would write all values of a mapped array


class PictureFiles(Pictures):
    """Pictures that are read from their files whenever they are needed."""

    def __init__(self, files: Sequence[str], options: PictureOptions, seed: int = 0) -> None:
        """`options` define how a picture is prepared, and which of it changes from epoch to epoch by `seed`."""
        self.files: Sequence[str] = files
        self.options, self.seed = options, seed
        self.shape = (3, *options.sides)

    def __len__(self) -> int:
        return len(self.files)

    def identity(self) -> dict[str, Any]:
        try:
            files = [identity(Path(file)) for file in self.files]
        except OSError as error:
            raise DataError(f"{error.filename}: {error.strerror}: it existed when the data was prepared") from error
        return {"files": fingerprint({"files": files}), "seen": {**asdict(self.options), "random_crop": 0, "flip": 0}}

    def __getitem__(self, numbers: Sequence[int]) -> Tensor:
        return torch.stack([seen(self.files[number], self.options) for number in numbers])

    def changed(self, numbers: Sequence[int], epoch: int) -> Tensor:
        if not self.options.varies:
            return self[numbers]
        draws = [np.random.default_rng((self.seed, epoch, number)) for number in numbers]
        files = [self.files[number] for number in numbers]
        return torch.stack([seen(file, self.options, draw) for file, draw in zip(files, draws, strict=True)])


class PictureStore:
    """Stores pictures while images are prepared: their pixels, or the names of their files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        self.shape: Shape | None = None
        """C, H, W of the stored pixels; None if there are only files."""
        self._files: list[str] = []
        self._pixels: IO[bytes] | None = None

    def add(self, row: PictureRow) -> dict[str, int]:
        """Store the picture of a row: the columns for its number and for a key that equal pictures share. Raises
        ValueError for pixels of another shape than the first."""
        if isinstance(row.picture, Path):
            known = self._key(row.picture)
            self._files.append(str(row.picture.absolute()))
        else:
            known = key([row.picture.tobytes()])
            self._write(row.picture)
        self.count += 1
        return {"stored": self.count - 1, "key": known}

    def _key(self, file: Path) -> int:
        with file.open("rb") as source:
            return key([file.stat().st_size, source.read(KEYED)])

    def _write(self, picture: NDArray[np.uint8]) -> None:
        height, width, channels = picture.shape
        shape = (channels, height, width)
        if self.shape not in (None, shape) or picture.dtype != np.uint8:
            raise ValueError(f"a picture of {shape} {picture.dtype}, expected {self.shape or ''} uint8")
        self.shape, self._pixels = shape, self._pixels or (self.folder / PIXELS).open("wb")
        self._pixels.write(picture.transpose(2, 0, 1).tobytes())

    def close(self) -> None:
        """Finish the files."""
        if self._pixels:
            self._pixels.close()
        if self._files:
            (self.folder / FILES).write_text(json.dumps(self._files, ensure_ascii=False), "utf-8")


class CaptionRows(NamedTuple):
    """Some captions of a prepared split, and their pictures or clips, each once."""

    table: pa.Table  # A row for each of B captions
    picture: NDArray[np.int64]  # (B,) the picture or clip of each caption
    images: Any  # (I, C, H, W) pixels, or features; of clips, also the mask of their frames
    numbers: NDArray[np.int64]  # (I,) the numbers of the pictures or clips in the split
    about: tuple[Description, ...] | None  # The description of each picture or clip, only for evaluation


class CaptionedPictures(StoredSplit):
    """The captions of a prepared split with their pictures, and for evaluation with descriptions of these.

    Captions are indexed by the numbers of `zoo.data.captions.order`: number % N is the caption, number // N the epoch.
    """

    def __init__(
        self,
        captions: datasets.Dataset,
        images: datasets.Dataset,
        pictures: Pictures,
        *,
        evaluation: bool,
        places: str,
        description: type[Description],
        files: Sequence[str] | None = None,
    ) -> None:
        """The captions of an image are consecutive rows; the column `stored` of both tables is the number of the
        picture. `files` are the paths of all pictures, if `pictures` are the features of files. `places` and
        `description` are those of the encoder."""
        more = ("named", places) if evaluation else ()
        super().__init__(captions, ("ids", *more), numbers_of(captions, "num_ids") + 1)  # with the end
        self.pictures, self.evaluation, self.files = pictures, evaluation, files
        self.description = description
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

    def about(self, numbers: NDArray[np.int64]) -> tuple[Description, ...]:
        """Describes some images."""
        rows = self._images[numbers.tolist()].to_pylist()
        stored = self._stored[numbers].tolist()
        files = [None if self.files is None else self.files[number] for number in stored]
        return tuple(
            self.description(row["name"], tuple(row["captions"]), json.loads(row.get("facts") or "null"), file)
            for row, file in zip(rows, files, strict=True)
        )
