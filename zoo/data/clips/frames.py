"""The frames of prepared clips: all frames of all clips in sequence, which are stored or decoded when they are needed,
and the clips of a batch, padded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from zoo.data.cache import fingerprint
from zoo.data.captions.options import PictureOptions
from zoo.data.captions.pictures import PictureRow, Pictures, PictureStore
from zoo.data.clips.video import frames_of, paths_of
from zoo.data.sources import identity
from zoo.data.stored import offsets
from zoo.errors import DataError

COUNTS = "frames.json"  # The number of frames of each clip


class Frames(NamedTuple):
    """The frames of I clips."""

    values: Tensor  # (I, F, C, H, W) uint8 pixels or features, 0 at padding
    mask: Tensor  # (I, F) True at frames

    @classmethod
    def of(cls, clips: Sequence[Tensor]) -> Frames:
        """Pad clips (F, C, H, W) with different numbers of frames."""
        lengths = torch.tensor([len(clip) for clip in clips])
        return cls(pad_sequence(list(clips), True), torch.arange(int(lengths.max())) < lengths[:, None])


class FilmFrames(Pictures):
    """The frames of clips that are read from their files. The clip that was decoded last is kept: its frames are asked
    for in sequence."""

    noun = "frames"

    def __init__(self, files: Sequence[str], counts: Sequence[int], options: PictureOptions, frames: int) -> None:
        """`counts` are the numbers of frames that the files had when they were checked, at most `frames`."""
        self.files: Sequence[str] = files
        self.counts, self.options, self.frames = list(counts), options, frames
        self.shape = (3, *options.sides)
        self._ends = offsets(self.counts)[1:]
        self._decoded = lru_cache(1)(self._clip)

    def __len__(self) -> int:
        return sum(self.counts)

    def identity(self) -> dict[str, Any]:
        try:
            files = [[identity(part) for part in paths_of(Path(file))] for file in self.files]
        except OSError as error:
            raise DataError(f"{error.filename}: {error.strerror}: it existed when the data was prepared") from error
        seen = {**asdict(self.options), "random_crop": 0, "flip": 0}
        return {"files": fingerprint({"files": files}), "seen": seen, "frames": self.frames}

    def __getitem__(self, numbers: Sequence[int]) -> Tensor:
        clips = self._ends.searchsorted(numbers, "right").tolist()
        parts = []
        for clip, some in groupby(zip(clips, numbers, strict=True), lambda pair: pair[0]):
            first = int(self._ends[clip]) - self.counts[clip]
            parts.append(self._decoded(clip)[[number - first for _, number in some]])
        return torch.cat(parts)

    def _clip(self, number: int) -> Tensor:
        found = frames_of(Path(self.files[number]), self.frames, self.options)
        if len(found) != self.counts[number]:
            raise DataError(
                f"{self.files[number]}: found {len(found)} frames, expected {self.counts[number]} as when the data was "
                "prepared: the file has changed; run again with another data.loader.cache_dir, or restore it"
            )
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.files, self.counts, self.options, self.frames)


class Clips(Pictures):
    """Clips by their numbers, from the frames of all of them in sequence."""

    def __init__(self, frames: Pictures, counts: Sequence[int]) -> None:
        """`counts` (I,) are the numbers of frames of the clips."""
        self.frames, self.counts = frames, counts
        self.shape, self.encoded = frames.shape, frames.encoded
        self._ends: NDArray[np.int64] = offsets(counts)

    def __len__(self) -> int:
        return len(self.counts)

    def identity(self) -> dict[str, Any]:
        return self.frames.identity()

    def __getitem__(self, numbers: Sequence[int]) -> Frames:
        return Frames.of([self.frames[range(self._ends[n], self._ends[n + 1])] for n in numbers])


class ClipStore(PictureStore):
    """Stores clips while they are prepared: their frames, or the names of their files, and the numbers of frames."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._counts: list[int] = []

    def add(self, row: PictureRow) -> dict[str, int]:
        self._counts.append(row.frames if isinstance(row.picture, Path) else len(row.picture))
        return super().add(row)

    def _key(self, file: Path) -> int:
        return super()._key(paths_of(file)[0])

    def _write(self, picture: NDArray[np.uint8]) -> None:
        for frame in picture:
            super()._write(frame)

    def close(self) -> None:
        super().close()
        (self.folder / COUNTS).write_text(json.dumps(self._counts), "utf-8")
