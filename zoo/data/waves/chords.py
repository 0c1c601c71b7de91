"""Tones and chords of known entropy: the data set `chords`, and the sample of the published sets of sounds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Unpack

import numpy as np
import torch

from zoo.arguments import Positive
from zoo.data.audio.decoding import stored_form
from zoo.data.audio.options import SpectrogramOptions
from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.data.sources import Source, sample_source
from zoo.data.waves.module import WaveArguments, WaveData, WaveRow
from zoo.data.waves.mu_law import decode
from zoo.data.waves.samples import chords
from zoo.data.waves.samples.chords import CLASSES, NOISE, RATE, Chord
from zoo.values import hold

SECONDS = 0.5


class Chords(WaveData):
    """Tones and chords in noise; see `zoo.data.waves.samples.chords`."""

    name = "chords"

    def __init__(
        self,
        *,
        seconds: Positive = SECONDS,
        noise: Positive = NOISE,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[WaveArguments],
    ) -> None:
        """
        Args:
            seconds: the duration of a sound.
            noise: the standard deviation of the noise, where 1 is the loudest sample.
            sample: the numbers of sounds.
            rest: the arguments of `WaveData`.
        """
        hold("data.seconds", seconds, Positive)
        hold("data.noise", noise, Positive)
        rest["spectrogram"] = SpectrogramOptions.of(rest.get("spectrogram") or {"rate": RATE})
        super().__init__(**rest)
        self.seconds, self.noise = seconds, noise
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        return chord_source(self.sample, self.spectrogram.rate, self.seconds, self.noise)

    def entropy(self, split: str) -> tuple[float, float]:
        options, rate = self.sample, self.spectrogram.rate
        first = {"train": 0, "val": options.train, "test": options.train + options.val}[split]
        every = chords.generate(options.total, seed=options.seed, rate=rate, seconds=self.seconds, noise=self.noise)
        clean = np.concatenate([one.clean for one in islice(every, first, first + getattr(options, split))])
        given = float(chords.entropies(clean, self.noise).mean())
        return given, given + chords.entropy_of_strokes() / round(rate * self.seconds)


def chord_source(options: SampleOptions, rate: int, seconds: float = SECONDS, noise: float = NOISE) -> Source:
    """Chords at a rate."""
    source = sample_source(chords.generate, options, "sounds", rate=rate, seconds=seconds, noise=noise)

    def rows(read: Callable[[BadRows], Iterator[Chord]], split: str, bad: BadRows) -> Iterator[WaveRow]:
        for number, one in enumerate(read(bad), 1):
            samples = stored_form(decode(torch.from_numpy(one.levels))).numpy()
            yield WaveRow(f"{split} {number}", samples, one.name, f"{source.place}, {split}, sound {number}")

    splits = {split: partial(rows, read, split) for split, read in source.splits.items()}
    return replace(source, splits=splits, classes=tuple(CLASSES))
