"""Published sounds as samples (VCTK, LJ Speech, recorded digits), and sounds of your own."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Required, Unpack

from zoo.data.audio.decoding import SUFFIXES
from zoo.data.audio.fsdd import DIGITS, Recording, divided, recordings
from zoo.data.corpus import Corpus, OwnFiles
from zoo.data.folders import ClassFile, files_of_splits
from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, Source, folder_identity, identity, path_source
from zoo.data.waves.chords import chord_source
from zoo.data.waves.module import WaveArguments, WaveData, WaveRow

NOUN = "sounds"


class WaveCorpusArguments(WaveArguments, total=False):
    """The arguments of every corpus of sounds as samples."""

    source: str | None
    sample: Mapping[str, Any] | SampleOptions | None


class WaveCorpus(Corpus, WaveData):
    """Sounds of official files, or of the sample: chords."""

    on_hub = False

    def __init__(self, **rest: Unpack[WaveCorpusArguments]) -> None:
        """As in `Corpus` and `WaveData`."""
        super().__init__(**rest)

    def open_sample(self) -> Source:
        return chord_source(self.sample, self.spectrogram.rate)


class Vctk(WaveCorpus):
    """109 speakers, who are the classes. Of two microphones the first is read. `source` is `sample`, or the path of the
    corpus."""

    name = "vctk"
    layout = (
        "the folder with wav48/p225/p225_001.wav or wav48_silence_trimmed/p225/p225_001_mic1.flac and so on "
        "(https://doi.org/10.7488/ds/2645)"
    )

    def open_files(self, path: Path) -> Source | None:
        for folder, pattern in (("wav48_silence_trimmed", "*_mic1.flac"), ("wav48", "*.wav")):
            speakers = [one for one in visible(path / folder) if one.is_dir()] if (path / folder).is_dir() else []
            found = [ClassFile(file, speaker.name) for speaker in speakers for file in visible(speaker, pattern)]
            if found:
                stamps = [folder_identity(one, Path(pattern).suffix) for one in speakers]
                return path_source(path, NOUN, {"train": partial(_rows, path, found)}, speakers=stamps)
        return None


class LjSpeech(WaveCorpus):
    """A woman reading books. `source` is `sample`, or the path of the corpus."""

    name = "ljspeech"
    layout = "the folder with metadata.csv and wavs/LJ001-0001.wav and so on (https://keithito.com/LJ-Speech-Dataset)"

    def open_files(self, path: Path) -> Source | None:
        folder = path / "wavs"
        found = [ClassFile(file, None) for file in visible(folder, "*.wav")] if folder.is_dir() else []
        if not found:
            return None
        return path_source(path, NOUN, {"train": partial(_rows, path, found)}, wavs=folder_identity(folder, ".wav"))


class SpokenDigits(WaveCorpus):
    """The recordings of FSDD as samples, with the digits as classes. `source` is `sample`, or the path of `recordings`
    or of its parent. The splits are those of `zoo.data.audio.fsdd`."""

    name = "spoken_digits"
    layout = (
        "the folder with recordings/0_george_0.wav and so on (https://github.com/Jakobovski/free-spoken-digit-dataset)"
    )

    def open_files(self, path: Path) -> Source | None:
        folder, found = recordings(path)
        if not found:
            return None
        parts = divided(folder, found, None)
        read = {split: partial(_digits, parts[split]) for split in SPLITS}
        return path_source(path, "recordings", read, recordings=folder_identity(folder, ".wav"))


def _digits(found: Sequence[Recording], bad: BadRows) -> Iterator[WaveRow]:
    for one in found:
        yield WaveRow(one.path.name, (one.path,), DIGITS[one.digit], str(one.path))


class OwnWaveArguments(WaveArguments, total=False):
    """The arguments of `OwnWaves`."""

    path: Required[str]


class OwnWaves(OwnFiles, WaveData):
    """Sounds from `path`. Splits without a folder of their own are drawn by `split.seed`."""

    name = "waves"
    layout = (
        "a folder of sounds (.wav, .flac, .ogg, .mp3, ...), or of a folder for each class, or of train, val and test "
        "with either"
    )

    def __init__(self, **rest: Unpack[OwnWaveArguments]) -> None:
        """As in `OwnFiles` and `WaveData`."""
        super().__init__(**rest)

    def open_files(self, path: Path) -> Source | None:
        files = files_of_splits(path, SUFFIXES, "sound")
        if files is None:
            return None
        stamps = {split: [[*identity(one.path), one.label] for one in some] for split, some in files.items()}
        return path_source(
            path, NOUN, {split: partial(_rows, path, some) for split, some in files.items()}, files=stamps
        )


def _rows(root: Path, files: Sequence[ClassFile], bad: BadRows) -> Iterator[WaveRow]:
    for one in files:
        yield WaveRow(str(one.path.relative_to(root)), (one.path,), one.label, str(one.path))
