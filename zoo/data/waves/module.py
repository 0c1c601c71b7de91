"""The base class of all data sets of sounds as samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Unpack

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.data.audio.decoding import LongSound, UnusableSound
from zoo.data.audio.options import SpectrogramOptions
from zoo.data.audio.sounds import Sounds, SoundStore, checked, sounds_of
from zoo.data.order import POOL, EpochOrder, Nouns, Order
from zoo.data.sources import Reading, Source
from zoo.data.stored import StoredSplit, histogram, numbers_of, values_of
from zoo.data.table_data import TableArguments, TableData
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import NoText
from zoo.data.waves.batch import WaveSpec
from zoo.data.waves.encoding import LevelRows, WaveEncoder, check_channels
from zoo.data.waves.mu_law import encode
from zoo.data.waves.options import Channels, PieceOptions
from zoo.values import hold

PREPARED = ("rate", "max_seconds")
"""The keys of the spectrogram that decide what is stored. The others act when a batch is made."""


class WaveRow(NamedTuple):
    """A sound as it is in its files."""

    name: str
    """The file within its folder, or the number of a generated sound."""
    sound: NDArray[np.int16] | tuple[Path, ...]
    """(N,) samples at the rate of the data, or one file."""
    label: str | None
    place: str
    """For messages."""


class WaveArguments(TableArguments, total=False):
    """The arguments of `WaveData`."""

    spectrogram: Mapping[str, Any] | SpectrogramOptions | None
    piece: Mapping[str, Any] | PieceOptions | None
    features: bool
    channels: Channels


class WaveData(TableData):
    """Sounds with or without classes, as levels of the mu-law.

    A sound that cannot be decoded, or has no samples, or only zeros, or several channels is a bad row. Long sounds are
    left out of the training split and counted, and are bad rows elsewhere.
    """

    tasks: ClassVar[tuple[str, ...]] = ("wave_density",)
    nouns: ClassVar[Nouns] = Nouns("sounds", "samples")
    encoding: ClassVar[type[TableEncoder]] = WaveEncoder
    text_options = NoText
    filter_keys = "data.spectrogram.max_seconds"
    encoder: WaveEncoder
    spec: WaveSpec

    def __init__(
        self,
        *,
        spectrogram: Mapping[str, Any] | SpectrogramOptions | None = None,
        piece: Mapping[str, Any] | PieceOptions | None = None,
        features: bool = False,
        channels: Channels = "one",
        **rest: Unpack[TableArguments],
    ) -> None:
        """Reads no file.

        Args:
            spectrogram: the rate of the samples, the longest sound, and how frames are made.
            piece: the part of a sound that a training example has, see `PieceOptions`.
            features: whether networks read a spectrogram of each sound, from which they make it again.
            channels: `one` refuses sounds with several channels, `mean` averages them.
            rest: the arguments of `TableData`.
        """
        hold("data.features", features, bool)
        hold("data.channels", channels, Channels)
        super().__init__(**rest)
        self.spectrogram = SpectrogramOptions.of(spectrogram)
        self.piece = PieceOptions.of(piece)
        self.features, self.channels = features, channels

    def entropy(self, split: str) -> tuple[float, float] | None:
        """Bounds of the entropy of a sample in nats, the mean over the sounds of a split; None where it is unknown."""
        return None

    def new_encoder(self) -> WaveEncoder:
        return WaveEncoder(spectrogram=self.spectrogram, features=self.features, channels=self.channels)

    # Preparing

    def _facts(self, source: Source) -> dict[str, Any]:
        options = asdict(self.spectrogram)
        own = {"spectrogram": {name: options[name] for name in PREPARED}, "channels": self.channels}
        return super()._facts(source) | own

    @contextmanager
    def storing(self, folder: Path) -> Iterator[None]:
        with closing(SoundStore(folder)) as self._store:
            yield

    def examples(self, rows: Iterator[WaveRow], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        most = self.spectrogram.max_seconds
        for row, counts in checked(rows, self.spectrogram):
            counts = self._of_one_channel(row, counts)
            if isinstance(counts, LongSound) and reading.training:
                reading.dropped[f"sounds longer than {most:g} seconds"] += 1
            elif isinstance(counts, UnusableSound):
                reading.bad(counts.place if isinstance(row.sound, tuple) else row.place, counts.problem, counts.detail)
            elif row.label is None or reading.knows(row.label, row.place, "sounds"):
                label = {} if row.label is None else {"label": row.label}
                yield {**self._store.add(row, sum(counts)), "name": row.name, **label}

    def _of_one_channel(self, row: WaveRow, counts: list[int] | UnusableSound) -> list[int] | UnusableSound:
        if self.channels == "one" and isinstance(row.sound, tuple) and not isinstance(counts, UnusableSound):
            try:
                check_channels(row.sound[0])
            except UnusableSound as error:
                return error
        return counts

    def strata(self, train: datasets.Dataset) -> NDArray[Any] | None:
        if "label" not in train.column_names:
            return None
        return np.unique(np.array([*values_of(train, "label")]), return_inverse=True)[1]

    def learn(self, encoder: TableEncoder, source: Source, splits: dict[str, datasets.Dataset]) -> None:
        """Learn nothing, because sounds have no vocabulary."""

    def finish(self, encoder: TableEncoder, source: Source, splits: Mapping[str, datasets.Dataset]) -> None:
        if "label" in splits["train"].column_names:
            encoder.classes = list(source.classes or sorted({*values_of(splits["train"], "label")}))

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        counts = numbers_of(split, "samples")
        return {"hours": round(float(counts.sum()) / self.spectrogram.rate / 3600, 4), "samples": histogram(counts)}

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        seconds = row["samples"] / self.spectrogram.rate
        return {"sound": f"{row['name']}, {seconds:.2f} seconds", **({"class": row["label"]} if "label" in row else {})}

    # Serving

    def _stored_encoder(self, folder: Path) -> WaveEncoder:
        own = {"spectrogram": asdict(self.spectrogram), "features": self.features, "channels": self.channels}
        return WaveEncoder.from_state(self.encoder_state(folder) | own)

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self._sounds = sounds_of(folder, self.spectrogram)
        return super()._read(folder, about)

    def set_spec(self, about: Mapping[str, Any]) -> None:
        frames = {"features": self.spectrogram.mels, "hop": self.spectrogram.hop_samples} if self.features else {}
        self.spec = WaveSpec(rate=self.spectrogram.rate, classes=tuple(self.encoder.classes), **frames)

    def stored_split(self, split: datasets.Dataset, evaluated: bool) -> StoredSplit:
        columns = [part.name for part in self.encoding.parts if part.read(evaluated)]
        piece = None if evaluated else self.piece
        return WaveSplit(split, columns, self._sounds, self.encoder, piece, self.loader.seed)

    def training_order(self, part: StoredSplit) -> Order:
        options: dict[str, Any] = {"seed": self.loader.seed, "pool": POOL, "nouns": self.nouns}
        return EpochOrder(part.lengths, shuffle=not self.overfitting, **options, **self.loader.limit, **self.ranks)

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        hours = " + ".join(f"{split['hours']:.3f}" for split in about["splits"].values())
        found = [f"{hours} hours of sound at {self.spectrogram.rate:,} samples per second"]
        if classes := about["classes"]:
            names = ", ".join(classes[:20]) + ", ..." * (len(classes) > 20)
            found.append(f"{len(classes)} {'class' if len(classes) == 1 else 'classes'}: {names}")
        return found


class WaveSplit(StoredSplit):
    """The sounds of a prepared split, indexed by the numbers of `EpochOrder`: number % N is the sound, number // N the
    epoch. Which piece of a sound training reads depends only on the seed, the epoch and the sound."""

    def __init__(
        self,
        examples: datasets.Dataset,
        columns: Sequence[str],
        sounds: Sounds,
        encoder: WaveEncoder,
        piece: PieceOptions | None = None,
        seed: int = 0,
    ) -> None:
        """`piece` is None for evaluation, which reads whole sounds."""
        lengths = numbers_of(examples, "samples")
        most = lengths.max() if piece is None else piece.samples + piece.context
        super().__init__(examples, columns, np.minimum(lengths, most))
        self.sounds, self.encoder, self.piece, self.seed = sounds, encoder, piece, seed
        self._place = np.stack([numbers_of(examples, name) for name in ("stored", "samples")], 1)

    def __getitem__(self, index: int) -> LevelRows:  # type: ignore[override]
        return self.__getitems__([index])

    def __getitems__(self, index: list[int]) -> LevelRows:  # type: ignore[override]
        numbers = [one % len(self) for one in index]
        levels, frames, context = [], [], []
        for one, number in zip(index, numbers, strict=True):
            samples = self.sounds.samples(*self._place[number].tolist())
            first, begin, end = self._piece(number, one // len(self))
            levels.append(encode(samples[first:end]))
            context.append(begin - first)
            if self.encoder.features:
                hop = self.encoder.spectrogram.hop_samples
                frames.append(self.encoder.frames(samples)[first // hop : 1 + (end - 1) // hop])
        return LevelRows(self._examples[numbers], numbers, levels, frames, context)

    def _piece(self, number: int, epoch: int) -> tuple[int, int, int]:
        """The first sample that is read, the first that is scored, and the end of the piece."""
        whole = int(self._place[number, 1])
        if self.piece is None or whole <= self.piece.samples:
            return 0, 0, whole
        draw = np.random.default_rng((self.seed, epoch, number))
        # Pieces may reach beyond both ends of a sound, so that each sample is scored equally often.
        begin = int(draw.integers(1 - self.piece.samples, whole))
        end = min(whole, begin + self.piece.samples)
        begin = max(0, begin)
        first = max(0, begin - self.piece.context)
        hop = self.encoder.spectrogram.hop_samples if self.encoder.features else 1
        return first - first % hop, begin, end
