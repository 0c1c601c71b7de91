"""The `Free Spoken Digit Dataset`: 3,000 recordings of the digits by six speakers, alone or joined to strings.

Jackson et al. 2018, https://doi.org/10.5281/zenodo.1342401: 8 kHz, 50 recordings of each digit by each speaker. The
official test set has the recordings 0 to 4 (300 files). The recordings 5 to 9 validate, because recordings drawn at
random are easier than the first ones of a speaker. A joined string has recordings of one speaker and one split, one
directly after the other, so that the borders of its digits are known.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Unpack

import numpy as np
from pydantic import Field

from zoo.arguments import Count
from zoo.data.audio.generated import SoundCorpus, SoundCorpusArguments, tone_source
from zoo.data.audio.options import SpectrogramOptions
from zoo.data.audio.samples.tones import RATE
from zoo.data.audio.sounds import SoundRow
from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows, visible
from zoo.data.sources import SPLITS, Source, folder_identity, path_source
from zoo.errors import ConfigError, DataError, one_of, or_nearest
from zoo.values import hold, refusal

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NAME = re.compile(r"(?P<digit>\d)_(?P<speaker>.+)_(?P<index>\d+)\.wav")
TEST = range(5)  # The recordings of the official test set
VALIDATION = range(5, 10)
Lengths = Annotated[str, Field(pattern=r"^[1-9]\d*(-[1-9]\d*)?$", description="a range as 3-7")]


@dataclass(frozen=True)
class StringOptions(SampleOptions):
    """How many strings of recordings each split has, and the seed that draws them."""

    group: ClassVar[str] = "strings"


class Recording(NamedTuple):
    """One file."""

    path: Path
    digit: int
    speaker: str
    number: int


class Fsdd(SoundCorpus):
    """Digits and strings of digits. `source` is `sample` (tones for the ten digits), or the path of `recordings` or of
    its parent."""

    name = "fsdd"
    layout = (
        "the folder with recordings/0_george_0.wav and so on (https://github.com/Jakobovski/free-spoken-digit-dataset)"
    )

    def __init__(
        self,
        *,
        join: Lengths | Count | None = "3-7",
        strings: Mapping[str, Any] | StringOptions | None = None,
        held_out: str | None = None,
        transcript: Literal["words", "digits"] = "words",
        **rest: Unpack[SoundCorpusArguments],
    ) -> None:
        """Reads no file.

        Args:
            join: the fewest and the most digits of a string; None: each recording is an example.
            strings: the numbers of strings, see `StringOptions`.
            held_out: a speaker who is only in the test, while the others train; None: the official test.
            transcript: `words` ("seven two") or `digits` ("72").
            rest: the arguments of `SoundCorpus`.
        """
        hold("data.join", join, Lengths | Count | None)
        one_of("data.transcript", transcript, ("words", "digits"))
        rest["spectrogram"] = SpectrogramOptions.of(rest.get("spectrogram") or {"rate": RATE})
        super().__init__(**rest)
        least, _, most = str(join or 1).partition("-")
        self.digits = int(least), int(most or least)
        if self.digits[0] > self.digits[1]:
            raise refusal("data.join", join, "the smaller number first, as in 3-7")
        self.join, self.strings = join, StringOptions.of(strings)
        self.held_out, self.transcript = held_out, transcript

    @property
    def written(self) -> tuple[str, ...]:
        """The transcript of each digit."""
        return DIGITS if self.transcript == "words" else tuple("0123456789")

    def open_sample(self) -> Source:
        return tone_source(self.sample, self.spectrogram.rate, self.written, self.digits)

    def open_files(self, path: Path) -> Source | None:
        folder, found = recordings(path)
        if not found:
            return None
        parts = divided(folder, found, self.held_out)
        identity = {
            "recordings": folder_identity(folder, ".wav"),
            "split": [[*TEST], [*VALIDATION], self.held_out],
            "written": self.written,
            "strings": None if self.join is None else [*self.digits, vars(self.strings)],
        }
        read = self._alone if self.join is None else self._strings
        noun = "recordings" if self.join is None else "strings of recordings"
        return path_source(
            path, noun, {split: partial(read, folder, split, parts[split]) for split in SPLITS}, **identity
        )

    def _alone(self, folder: Path, split: str, found: list[Recording], bad: BadRows) -> Iterator[SoundRow]:
        for one in found:
            yield self._row(one.path.name, [one], str(folder))

    def _strings(self, folder: Path, split: str, found: list[Recording], bad: BadRows) -> Iterator[SoundRow]:
        """String i of a split depends only on the seed and on i."""
        by_speaker: dict[str, list[Recording]] = {}
        for one in found:
            by_speaker.setdefault(one.speaker, []).append(one)
        speakers = sorted(by_speaker)
        for number in range(1, getattr(self.strings, split) + 1):
            draw = np.random.default_rng((self.strings.seed, SPLITS.index(split), number))
            recordings = by_speaker[speakers[draw.integers(len(speakers))]]
            length = draw.integers(self.digits[0], self.digits[1] + 1)
            some = [recordings[at] for at in draw.integers(len(recordings), size=length)]
            yield self._row(f"{split} {number} ({some[0].speaker})", some, f"{folder}, {split}, string {number}")

    def _row(self, name: str, some: list[Recording], place: str) -> SoundRow:
        words = tuple(self.written[one.digit] for one in some)
        text = (" " if self.transcript == "words" else "").join(words)
        return SoundRow(name, tuple(one.path for one in some), text, place, words)


def recordings(path: Path) -> tuple[Path, list[Recording]]:
    """The folder of the recordings, which is `path` or inside it, and the recordings; none in another layout."""
    folder = path / "recordings" if (path / "recordings").is_dir() else path
    parsed = [(file, NAME.fullmatch(file.name)) for file in visible(folder, "*.wav")] if folder.is_dir() else []
    return folder, [
        Recording(file, int(name["digit"]), name["speaker"], int(name["index"])) for file, name in parsed if name
    ]


def divided(folder: Path, every: Sequence[Recording], held_out: str | None) -> dict[str, list[Recording]]:
    """The recordings of each split: by their numbers, or with the speaker `held_out` as the test. Raises ConfigError
    for an unknown speaker, and DataError for a split without recordings."""
    speakers = sorted({one.speaker for one in every})
    if held_out is not None and held_out not in speakers:
        found = f"found {held_out!r}{or_nearest(held_out, speakers)}"
        raise ConfigError(f"data.held_out: expected one of {', '.join(speakers)}, {found}")
    parts: dict[str, list[Recording]] = {split: [] for split in SPLITS}
    for one in every:
        if one.speaker == held_out or (held_out is None and one.number in TEST):
            parts["test"].append(one)
        else:
            parts["val" if one.number in VALIDATION else "train"].append(one)
    if missing := [split for split, some in parts.items() if not some]:
        raise DataError(f"{folder}: found {len(every):,} recordings, and none of them is for {missing[0]}")
    return parts
