"""The sounds of a prepared data set, which are stored samples or files that a batch reads, and their transcripts."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.audio.batch import Sound
from zoo.data.audio.decoding import UnusableSound, as_real, decode, measure, stored_form
from zoo.data.audio.options import AugmentOptions, SpectrogramOptions
from zoo.data.audio.spectrogram import log_mel, masked
from zoo.data.notes import key
from zoo.data.stored import StoredSplit, numbers_of

if TYPE_CHECKING:
    import datasets

SAMPLES, FILES = "samples.bin", "sounds.json"
KEYED = 2**16  # Bytes of a file that distinguish it from others of its size
CHECKED = 64  # Sounds that are checked at the same time


class Border(NamedTuple):
    """The letters of a transcript that are heard in one stretch of its sound."""

    first: int
    last: int
    """The letters from `first` to before `last`."""
    begin: float
    end: float
    """Seconds."""


class SoundRow(NamedTuple):
    """A sound and its transcript as they are in their files."""

    name: str
    """The file within its folder, or the number of a generated sound."""
    sound: NDArray[np.int16] | tuple[Path, ...]
    """(N,) samples at the rate of the data, which are stored with the prepared data, or files that follow each other
    and are read when they are needed."""
    text: str
    place: str
    """File and line, for messages."""
    words: tuple[str, ...] = ()
    """The words of the transcript that are in each file of `sound`; their borders are then known."""
    borders: tuple[Border, ...] | None = None
    """The borders of a generated sound."""


class HasSound(Protocol):
    """A row with a sound, as in `SoundRow`."""

    @property
    def sound(self) -> NDArray[np.int16] | tuple[Path, ...]:
        """(N,) samples at the rate of the data, or files."""


RowT = TypeVar("RowT", bound=HasSound)


class Sounds(ABC):
    """The sounds of all splits. Other processes that make batches get a copy, so that it holds no samples."""

    @abstractmethod
    def samples(self, stored: int, count: int, speed: float = 1.0) -> Tensor:
        """(N,) float32 samples of the sound that is stored as `stored`; `count` is their number at the speed 1."""


class StoredSounds(Sounds):
    """Sounds in one file of int16 samples that is mapped into memory; `stored` is the first sample of a sound."""

    def __init__(self, file: Path, options: SpectrogramOptions) -> None:
        self.file, self.options = file, options
        self._values: NDArray[np.int16] = np.memmap(file, np.int16, "r")

    def samples(self, stored: int, count: int, speed: float = 1.0) -> Tensor:
        given, rate = np.asarray(self._values[stored : stored + count]), self.options.rate
        return as_real(given) if speed == 1 else decode((given, rate), self.options, speed)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.file, self.options)  # pickle would write all values of a mapped array


class SoundFiles(Sounds):
    """Sounds that are decoded whenever they are needed; `stored` is the number of a sound."""

    def __init__(self, files: Sequence[Sequence[str]], options: SpectrogramOptions) -> None:
        self.files, self.options = files, options

    def samples(self, stored: int, count: int, speed: float = 1.0) -> Tensor:
        return decode(tuple(self.files[stored]), self.options, speed)


class SoundStore:
    """Stores sounds while they are prepared: their samples, or the names of their files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: list[list[str]] = []
        self._samples: IO[bytes] | None = None
        self._count = 0

    def add(self, row: HasSound, samples: int) -> dict[str, int]:
        """Store the sound of a row, of so many samples: the columns for its place and for a key that equal sounds
        share."""
        if isinstance(row.sound, tuple):
            self._files.append([str(path.absolute()) for path in row.sound])
            return {
                "stored": len(self._files) - 1,
                "samples": samples,
                "key": key([part for path in row.sound for part in _known(path)]),
            }
        self._samples = self._samples or (self.folder / SAMPLES).open("wb")
        self._samples.write(row.sound.tobytes())
        self._count += samples
        return {"stored": self._count - samples, "samples": samples, "key": key([row.sound.tobytes()])}

    def close(self) -> None:
        """Finish the files."""
        if self._samples:
            self._samples.close()
        if self._files:
            (self.folder / FILES).write_text(json.dumps(self._files, ensure_ascii=False), "utf-8")


def sounds_of(folder: Path, options: SpectrogramOptions) -> Sounds:
    """The sounds that a `SoundStore` has written."""
    if (folder / FILES).is_file():
        return SoundFiles(json.loads((folder / FILES).read_text("utf-8")), options)
    return StoredSounds(folder / SAMPLES, options)


def _known(path: Path) -> list[Any]:
    with path.open("rb") as source:
        return [path.stat().st_size, source.read(KEYED)]


def checked(rows: Iterator[RowT], options: SpectrogramOptions) -> Iterator[tuple[RowT, list[int] | UnusableSound]]:
    """Each row with the samples of each of its parts, or with the reason why its sound cannot be used. Every file is
    decoded once, so that a training does not stop at a broken one."""
    pool = ThreadPoolExecutor(os.cpu_count())

    def check(row: RowT) -> list[int] | UnusableSound:
        try:
            if isinstance(row.sound, tuple):
                return measure(row.sound, options)
            return [len(decode((row.sound, options.rate), options))]
        except UnusableSound as error:
            return error

    try:
        while some := list(islice(rows, CHECKED)):
            yield from zip(some, pool.map(check, some), strict=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class SoundRows(NamedTuple):
    """Some examples of a prepared split with their frames."""

    table: pa.Table
    numbers: list[int]  # Their numbers in the split
    frames: list[Tensor]  # (S, F) of each
    sounds: list[Sound] | None  # Only for evaluation


class SoundSplit(StoredSplit):
    """The examples of a prepared split with their sounds.

    They are indexed by the numbers of `EpochOrder`: number % N is the example, number // N the epoch. What training
    changes depends only on the seed, the epoch and the example, and so not on processes or a resume.
    """

    def __init__(
        self,
        examples: datasets.Dataset,
        columns: Sequence[str],
        sounds: Sounds,
        options: SpectrogramOptions,
        augment: AugmentOptions | None = None,
        seed: int = 0,
    ) -> None:
        """`augment` is None for evaluation, which changes nothing and also reads the sounds themselves."""
        super().__init__(examples, columns, numbers_of(examples, "frames"))
        self.sounds, self.options, self.augment, self.seed = sounds, options, augment, seed
        self._place = np.stack([numbers_of(examples, name) for name in ("stored", "samples")], 1)
        self._names = examples.with_format("arrow", columns=["name"])

    def __getitem__(self, index: int) -> SoundRows:  # type: ignore[override]
        return self.__getitems__([index])

    def __getitems__(self, index: list[int]) -> SoundRows:  # type: ignore[override]
        numbers = [one % len(self) for one in index]
        table = self._examples[numbers]
        if self.augment is not None:
            return SoundRows(table, numbers, [self.changed(one % len(self), one // len(self)) for one in index], None)
        samples = [self.sounds.samples(*self._place[one].tolist()) for one in numbers]
        names = self._names[numbers]["name"].to_pylist()
        sounds = [Sound(name, self.options.rate, stored_form(one)) for name, one in zip(names, samples, strict=True)]
        return SoundRows(table, numbers, [log_mel(one, self.options) for one in samples], sounds)

    def changed(self, number: int, epoch: int) -> Tensor:
        """(S, F) the frames of an example in an epoch of the training."""
        assert self.augment is not None
        stored, count = self._place[number].tolist()
        if not self.augment.varies:
            return log_mel(self.sounds.samples(stored, count), self.options)
        draw = np.random.default_rng((self.seed, epoch, number))
        speed = float(draw.choice(self.augment.speed)) if self.augment.speed else 1.0
        frames = log_mel(self.sounds.samples(stored, count, speed), self.options)
        return masked(frames, self.augment, draw)


def padded_frames(frames: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """(B, S, F) frames with 0 at padding, and (B, S) their mask."""
    lengths = torch.tensor([len(one) for one in frames])
    found = torch.nn.utils.rnn.pad_sequence(list(frames), batch_first=True)
    return found, torch.arange(found.shape[1]) < lengths[:, None]
