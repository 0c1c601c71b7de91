"""Strings of tones with known borders: the data set `tones`, and the sample of the published corpora."""

import wave
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from string import ascii_lowercase
from typing import Annotated, Any, Unpack

import numpy as np
from annotated_types import Ge, Le

from zoo.arguments import Count
from zoo.data.audio.module import AudioArguments, AudioData
from zoo.data.audio.options import SpectrogramOptions
from zoo.data.audio.samples import tones
from zoo.data.audio.samples.tones import MOST_SYMBOLS, RATE, Tones
from zoo.data.audio.sounds import Border, SoundRow
from zoo.data.corpus import Corpus
from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.data.sources import Source, sample_source
from zoo.data.written import write_files
from zoo.values import hold, refusal

Symbols = Annotated[int, Ge(2), Le(min(MOST_SYMBOLS, len(ascii_lowercase)))]
TABLE = "transcripts.csv"
LENGTHS = (3, 8)
SYMBOLS = 20
LETTERS = tuple(ascii_lowercase[:SYMBOLS])


class ToneStrings(AudioData):
    """Strings of letters, each of two tones at once; see `zoo.data.audio.samples.tones`."""

    name = "tones"

    def __init__(
        self,
        *,
        symbols: Symbols = SYMBOLS,
        shortest: Count = LENGTHS[0],
        longest: Count = LENGTHS[1],
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[AudioArguments],
    ) -> None:
        """`symbols` is the number of letters, `shortest` and `longest` the lengths of the strings, `sample` their
        numbers."""
        hold("data.symbols", symbols, Symbols)
        hold("data.shortest", shortest, Count)
        hold("data.longest", longest, Count)
        if longest < shortest:
            raise refusal("data.longest", longest, f"data.shortest={shortest} or more")
        rest["spectrogram"] = SpectrogramOptions.of(rest.get("spectrogram") or {"rate": RATE})
        super().__init__(**rest)
        self.symbols, self.lengths_of_strings = symbols, (shortest, longest)
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        words = ascii_lowercase[: self.symbols]
        return tone_source(self.sample, self.spectrogram.rate, words, self.lengths_of_strings)

    def write(self, folder: Path) -> list[Path]:
        """Write the sounds as .wav files, a folder per split, and their transcripts as a table, for data=audio. Returns
        the table and the folders. Raises DataError, and writes nothing, if the folder is not empty or an error occurs.
        """

        def write(path: Path, row: SoundRow) -> None:
            with wave.open(str(path), "wb") as sound:
                sound.setparams((1, 2, self.spectrogram.rate, 0, "NONE", ""))
                sound.writeframes(np.asarray(row.sound, "<i2").tobytes())

        kinds: dict[str, Any] = {"table": TABLE, "column": "text", "suffix": ".wav"}
        return write_files(
            folder, self.open_source(), self.bad_rows(), **kinds, write=write, texts=lambda row: (row.text,)
        )


def tone_source(
    options: SampleOptions, rate: int, words: Sequence[str] = LETTERS, lengths: tuple[int, int] = LENGTHS
) -> Source:
    """Strings of tones at a rate. Symbol i is written as `words[i]`; words of several letters are joined by blanks."""
    least, most = lengths
    source = sample_source(tones.generate, options, "sounds", rate=rate, symbols=len(words), least=least, most=most)
    blank = " " if any(len(word) > 1 for word in words) else ""
    identity = {**source.identity, "words": list(words)}

    def rows(read: Callable[[BadRows], Iterator[Tones]], split: str, bad: BadRows) -> Iterator[SoundRow]:
        for number, one in enumerate(read(bad), 1):
            string = [words[symbol] for symbol in one.symbols]
            begins = accumulate((len(word) + len(blank) for word in string), initial=0)
            borders = (
                Border(first, first + len(word), *times)
                for first, word, times in zip(begins, string, one.times, strict=False)
            )
            place = f"{source.place}, {split}, sound {number}"
            yield SoundRow(f"{split} {number}", one.samples, blank.join(string), place, borders=tuple(borders))

    splits = {split: partial(rows, read, split) for split, read in source.splits.items()}
    return replace(source, identity=identity, splits=splits)


class SoundCorpusArguments(AudioArguments, total=False):
    """The arguments of every corpus of sounds."""

    source: str | None
    sample: Mapping[str, Any] | SampleOptions | None


class SoundCorpus(Corpus, AudioData):
    """Sounds of official files, or of the sample: strings of letters, unless a corpus has others."""

    on_hub = False

    def __init__(self, **rest: Unpack[SoundCorpusArguments]) -> None:
        """As in `Corpus` and `AudioData`."""
        super().__init__(**rest)

    def open_sample(self) -> Source:
        return tone_source(self.sample, self.spectrogram.rate)
