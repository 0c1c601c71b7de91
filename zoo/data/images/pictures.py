"""Where the pictures of a prepared split come from when a batch is made.

`Pictures` is all that the data module knows of them: a list of numbers, those of the rows in the order in which the
source gave them, gives what a batch holds.
`StoredPictures` are pixels in one memory-mapped array. `PictureFiles` are files that are read on the fly. Features that
a frozen encoder made beforehand are one more subclass, of which `encoded` is True and `shape` is (D, rows, columns).
`ImageData` chooses, and `spec` says what is chosen.

What a file or a picture of a user becomes is said in `zoo.data.images.decoding`: `decode(image)` gives uint8 (3, h, w)
of a path, a PIL image or an array, `fit(pixels, options)` the (3, H, W) of `PictureOptions`; `seen` is the one after
the other, and so is `ImageCaptionEncoder.pixels`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.cache import fingerprint
from zoo.data.images.decoding import seen
from zoo.data.images.options import PictureOptions
from zoo.data.sources import identity
from zoo.errors import DataError


class Pictures(ABC):
    """The pictures of all splits, by the numbers under which they are stored. It goes to the processes that make
    batches, so that it holds paths and numbers rather than what stands behind them."""

    shape: tuple[int, int, int]
    """C, H, W of each."""
    encoded: bool = False
    """They are features, and no pixels."""

    @abstractmethod
    def __len__(self) -> int:
        """How many there are."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Plain data that differs wherever what is seen of them may differ."""

    @abstractmethod
    def __getitem__(self, numbers: Sequence[int]) -> Tensor:
        """(I, C, H, W) of these pictures, in this order: uint8 pixels, or features."""

    def changed(self, numbers: Sequence[int], epoch: int) -> Tensor:
        """The same for training, with random changes that follow from the epoch and the number of a picture alone, so
        that neither processes nor a resume change them; unless a subclass overrides it there are none."""
        return self[numbers]


class StoredPictures(Pictures):
    """Pixels in one file, mapped into memory."""

    def __init__(self, file: Path, shape: tuple[int, int, int]) -> None:
        """`file` holds pictures (C, H, W) of bytes, one behind the other, as `PictureWriter` wrote them."""
        self.file, self.shape = file, shape
        self._pixels: NDArray[np.uint8] = np.memmap(file, np.uint8, "r").reshape(-1, *shape)

    def __len__(self) -> int:
        return len(self._pixels)

    def identity(self) -> dict[str, Any]:
        with self.file.open("rb") as pixels:
            return {"pixels": file_digest(pixels, blake2b).hexdigest(), "shape": list(self.shape)}

    def __getitem__(self, numbers: Sequence[int]) -> Tensor:
        return torch.from_numpy(self._pixels[np.asarray(numbers, np.int64)])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.file, self.shape)  # a map into memory would travel as all it holds


class PictureFiles(Pictures):
    """Pictures that are read from their files whenever they are needed."""

    def __init__(self, files: Sequence[str], options: PictureOptions, seed: int = 0) -> None:
        """`options` say what is seen of a picture, and which of it changes from epoch to epoch by `seed`."""
        self.files, self.options, self.seed = files, options, seed
        self.shape = (3, *options.sides)

    def __len__(self) -> int:
        return len(self.files)

    def identity(self) -> dict[str, Any]:
        try:
            files = [identity(Path(file)) for file in self.files]
        except OSError as error:
            raise DataError(f"{error.filename}: {error.strerror}: it was there when the data was prepared") from error
        return {"files": fingerprint({"files": files}), "seen": {**asdict(self.options), "random_crop": 0, "flip": 0}}

    def __getitem__(self, numbers: Sequence[int]) -> Tensor:
        return torch.stack([seen(self.files[number], self.options) for number in numbers])

    def changed(self, numbers: Sequence[int], epoch: int) -> Tensor:
        if not self.options.varies:
            return self[numbers]
        draws = [np.random.default_rng((self.seed, epoch, number)) for number in numbers]
        files = [self.files[number] for number in numbers]
        return torch.stack([seen(file, self.options, draw) for file, draw in zip(files, draws, strict=True)])


class PictureWriter:
    """Writes pixels behind each other into a file, whatever their number."""

    def __init__(self, file: Path) -> None:
        self._sink, self.count = file.open("wb"), 0
        self.shape: tuple[int, int, int] | None = None
        """C, H, W of those that were written."""

    def add(self, picture: NDArray[np.uint8]) -> int:
        """Write (H, W, 3) pixels; their number. Raises ValueError where they are of another size than the first."""
        height, width, channels = picture.shape
        shape = (channels, height, width)
        if self.shape not in (None, shape) or picture.dtype != np.uint8:
            raise ValueError(f"a picture of {shape} {picture.dtype}, expected {self.shape or ''} uint8")
        self.shape = shape
        self._sink.write(picture.transpose(2, 0, 1).tobytes())
        self.count += 1
        return self.count - 1

    def __enter__(self) -> PictureWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self._sink.close()
