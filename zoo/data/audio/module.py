"""The base class of all data of sounds with transcripts."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, ClassVar, Unpack

import datasets
import numpy as np
from numpy.typing import NDArray

from zoo.data.audio.batch import AudioSpec
from zoo.data.audio.decoding import LongSound, UnusableSound
from zoo.data.audio.encoding import AudioEncoder
from zoo.data.audio.options import AugmentOptions, SpectrogramOptions, TranscriptOptions
from zoo.data.audio.sounds import Border, SoundRow, SoundSplit, SoundStore, checked, sounds_of
from zoo.data.audio.spectrogram import filters
from zoo.data.order import POOL, EpochOrder, Nouns, Order
from zoo.data.sources import Reading, Source
from zoo.data.stored import StoredSplit, histogram, numbers_of
from zoo.data.table_data import TableArguments, TableData
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.tokenization import find

PREPARED = ("rate", "hop", "max_seconds")
"""The keys of the spectrogram that decide what is stored. The others act when a batch is made."""


class AudioArguments(TableArguments, total=False):
    """The arguments of `AudioData`."""

    spectrogram: Mapping[str, Any] | SpectrogramOptions | None
    augment: Mapping[str, Any] | AugmentOptions | None


class AudioData(TableData):
    """Sounds, each with its transcript.

    A sound that cannot be decoded, or has no samples, or only zeros, is a bad row. Long sounds and empty transcripts
    are left out of the training split and counted, and are bad rows elsewhere. `spec.longest_target` is the maximum
    over all three splits.
    """

    tasks: ClassVar[tuple[str, ...]] = ("transcription",)
    nouns: ClassVar[Nouns] = Nouns("sounds", "frames")
    encoding = AudioEncoder
    text_options = TranscriptOptions
    filter_keys = "data.text.max_length and data.spectrogram.max_seconds"
    text: TranscriptOptions
    spec: AudioSpec
    encoder: AudioEncoder

    def __init__(
        self,
        *,
        spectrogram: Mapping[str, Any] | SpectrogramOptions | None = None,
        augment: Mapping[str, Any] | AugmentOptions | None = None,
        **rest: Unpack[TableArguments],
    ) -> None:
        """Reads no file.

        Args:
            spectrogram: how a sound becomes frames, see `SpectrogramOptions`.
            augment: how training changes a sound in each epoch, see `AugmentOptions`.
            rest: the arguments of `TableData`. `loader.max_tokens` counts frames.
        """
        super().__init__(**rest)
        self.spectrogram = SpectrogramOptions.of(spectrogram)
        self.augment = AugmentOptions.of(augment)
        filters(self.spectrogram)

    def new_encoder(self) -> AudioEncoder:
        return AudioEncoder(self.text, spectrogram=self.spectrogram)

    # Preparing

    def _facts(self, source: Source) -> dict[str, Any]:
        options = asdict(self.spectrogram)
        return super()._facts(source) | {"spectrogram": {name: options[name] for name in PREPARED}}

    @contextmanager
    def storing(self, folder: Path) -> Iterator[None]:
        with closing(SoundStore(folder)) as self._store:
            yield

    def examples(self, rows: Iterator[SoundRow], source: Source, reading: Reading) -> Iterator[dict[str, Any]]:
        rate, hop, most = self.spectrogram.rate, self.spectrogram.hop_samples, self.spectrogram.max_seconds
        for row, counts in checked(rows, self.spectrogram):
            if isinstance(counts, LongSound) and reading.training:
                reading.dropped[f"sounds longer than {most:g} seconds"] += 1
                continue
            if isinstance(counts, UnusableSound):
                place = row.place if isinstance(row.sound, np.ndarray) else f"{row.place}: {counts.place}"
                reading.bad(place, counts.problem, counts.detail)
                continue
            text = unicodedata.normalize("NFC", " ".join(row.text.split()))
            if "\0" in text:
                reading.bad(row.place, "NUL byte", "the file is binary or damaged")
            elif not text and reading.training:
                reading.dropped["empty transcripts"] += 1
            elif not text:
                reading.bad(row.place, "empty transcript", f"{row.name} has no text")
            else:
                stored = self._store.add(row, sum(counts))
                frames = {"frames": 1 + sum(counts) // hop, "name": row.name, "transcript": text}
                borders = _borders(row, counts, rate)
                yield {**stored, **frames, **({} if borders is None else _columns(borders))}

    def left_out(self, train: datasets.Dataset, lengths: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.bool_]]:
        found = {"transcripts without tokens": lengths["target"] == 0}
        if (most := self.text.max_length) is not None:
            found[f"transcripts longer than {most} tokens"] = lengths["target"] > most
        return found

    def facts(self, split: datasets.Dataset, encoder: TableEncoder) -> dict[str, Any]:
        seconds = float(numbers_of(split, "samples").sum()) / self.spectrogram.rate
        return {"hours": round(seconds / 3600, 3), "frames": histogram(numbers_of(split, "frames"))}

    def about(self, splits: Mapping[str, datasets.Dataset], facts: Mapping[str, Any]) -> dict[str, Any]:
        longest = max(int(numbers_of(part, "num_target").max()) for part in splits.values())
        return {"longest_target": longest + 1}  # the end

    def example(self, row: Mapping[str, Any]) -> dict[str, str]:
        seconds = row["samples"] / self.spectrogram.rate
        return {"sound": f"{row['name']}, {seconds:.2f} seconds", "transcript": row["transcript"]}

    # Serving

    def _stored_encoder(self, folder: Path) -> AudioEncoder:
        return AudioEncoder.from_state(self.encoder_state(folder) | {"spectrogram": asdict(self.spectrogram)})

    def _read(self, folder: Path, about: Mapping[str, Any]) -> dict[str, StoredSplit]:
        self._sounds = sounds_of(folder, self.spectrogram)
        return super()._read(folder, about)

    def set_spec(self, about: Mapping[str, Any]) -> None:
        self.spec = AudioSpec(
            features=self.spectrogram.mels,
            target_size=len(self.encoder.target_vocabulary),
            longest_target=about["longest_target"],
            hop=self.spectrogram.seconds,
        )

    def stored_split(self, split: datasets.Dataset, evaluated: bool) -> StoredSplit:
        columns = [part.name for part in self.encoding.parts if part.read(evaluated)]
        augment = None if evaluated else self.augment
        return SoundSplit(split, columns, self._sounds, self.spectrogram, augment, self.loader.seed)

    def training_order(self, part: StoredSplit) -> Order:
        shuffle, limits = not self.overfitting, {**self.loader.limit, **self.ranks}
        options: dict[str, Any] = {"seed": self.loader.seed, "pool": POOL, "nouns": self.nouns}
        return EpochOrder(part.lengths, shuffle=shuffle, **options, **limits)

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        hours = " + ".join(f"{split['hours']:.2f}" for split in about["splits"].values())
        options = self.spectrogram
        return [
            f"{hours} hours of sound at {options.rate:,} samples per second",
            f"{options.mels} mel bands every {1000 * options.seconds:g} ms",
            f"a vocabulary of {about['vocabulary_size']:,} tokens",
        ]


def _borders(row: SoundRow, counts: Sequence[int], rate: int) -> Sequence[Border] | None:
    """The borders of a row, or those of its words, which have a file each, of so many samples."""
    if row.borders is not None or not row.words:
        return row.borders
    seconds = [count / rate for count in accumulate(counts, initial=0)]
    spans = zip(find(row.text, row.words), pairwise(seconds), strict=True)
    return [Border(*letters, *times) for letters, times in spans]


def _columns(borders: Sequence[Border]) -> dict[str, Any]:
    letters = chain.from_iterable((one.first, one.last) for one in borders)
    return {"letters": list(letters), "times": list(chain.from_iterable((one.begin, one.end) for one in borders))}
