"""The view of the density of sounds: a sound that can be played, and the surprisal of its samples over time."""

from __future__ import annotations

import sys
from argparse import Namespace, _ArgumentGroup
from collections.abc import Collection, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zoo.data.audio.decoding import SUFFIXES
from zoo.data.waves.encoding import Request
from zoo.errors import ConfigError, UnusableInput, did_you_mean
from zoo.files import make_folder
from zoo.predicting.transcription import Transcript
from zoo.predicting.wave_density import ExaminedWave, WavePrediction
from zoo.visualize.blocks import Block, Head
from zoo.visualize.drawing import Key
from zoo.visualize.files import FileView
from zoo.visualize.renderers.figure import draw
from zoo.visualize.transcription import AttendedSound, wav
from zoo.visualize.view import Field, Pictures

SURPRISAL = Key(
    "",
    "above: the sound, low tones at the bottom; bits: dark where samples had a low probability",
    "Above is the sound, low tones at the bottom. The row called bits is dark where samples had a low probability, "
    "given all samples before them. Play the sound: the line moves along.",
)
GIVEN = Key("true", "the part that was given; the network made the rest")
MOST = 1000  # Sounds that are made at once
BESIDE = ("prime", "sample", "like")
COLUMN = 0.01  # Seconds of a column of the row of surprisals


class WaveDensityView(FileView):
    """Sounds with the surprisal of their samples."""

    noun, typed = "sound", "sound.wav"
    columns: ClassVar[tuple[str, ...]] = ("sound", "seconds", "given seconds", "bits per sample", "nats per sample")
    title = "Sounds, sample by sample"
    shows = "surprisal"
    classes: Sequence[str] = ()  # The classes among which the network can be asked to make one
    takes_like = False
    asked = Namespace(seconds=0.0, label=None, like=None, prime=None, sample=None)

    @property
    def suffixes(self) -> Collection[str]:
        return SUFFIXES

    def try_it(self, data: Any) -> str:
        like = f" --like {super().try_it(data)}" if data.spec.features else ""
        return f"--seconds 1 --out sound.wav{like}"

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--seconds", type=float, metavar="S", help="make S seconds, alone or after each sound")
        group.add_argument("--prime", type=Path, metavar="SOUND", help="continue this sound")
        group.add_argument("--sample", type=int, metavar="N", help="make N sounds (default 1)")
        group.add_argument("--class", dest="label", metavar="NAME", help="the class to make, of a network that has one")
        like = "make a sound with this spectrogram, by a network that reads one"
        group.add_argument("--like", type=Path, metavar="SOUND", help=like)
        group.add_argument("--temperature", type=float, metavar="T", help="divide the scores by T (0: the likeliest)")
        group.add_argument("--seed", type=int, default=1, metavar="S", help="make other sounds (default 1)")
        out = "write the sound; several become OUT-1.wav, OUT-2.wav, ..."
        group.add_argument("--out", type=Path, metavar="FILE.wav", help=out)

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        task = predictor.task
        if options.seed < 0:
            raise ConfigError(f"--seed={options.seed}: expected a whole number from 0 on")
        task.seed = options.seed
        task.make_by(temperature=options.temperature, seconds=options.seconds)
        if options.out is not None:
            if options.out.suffix.lower() != ".wav":
                raise ConfigError(f"--out {options.out}: expected the name of a file that ends in .wav")
            make_folder("--out", options.out)
        self.classes, self.takes_like = task.classes_to_make, "frames" in task.network.conditions
        if options.label is not None and not self.classes:
            raise ConfigError("--class: this network is not asked for a class; train one with model.condition=label")
        if options.label is not None and options.label not in self.classes:
            raise ConfigError(f"--class {options.label}: unknown class; {did_you_mean(options.label, self.classes)}")
        if options.like is not None and not self.takes_like:
            raise ConfigError("--like: this network reads no spectrogram; train one with data.features=true")
        self._check_seconds(predictor, options)
        self.asked = options

    def _check_seconds(self, predictor: Any, options: Namespace) -> None:
        if (beside := _beside(options)) and options.seconds is None:
            raise ConfigError(f"--{beside}: add --seconds S, the seconds to make")
        if options.sample is not None and not 1 <= options.sample <= MOST:
            raise ConfigError(f"--sample={options.sample}: expected a whole number from 1 to {MOST}")
        if options.prime is not None:
            self.found(options.prime, "the path of a sound to continue")
            count, field = len(predictor.encoder.read(options.prime)), predictor.task.network.field
            if field is not None and count > field:
                seconds = field / predictor.encoder.spectrogram.rate
                print(
                    f"{options.prime}: the network reads the last {field:,} of {count:,} samples ({seconds:.2f} s); "
                    "earlier ones do not change what follows",
                    file=sys.stderr,
                )

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        asked = self.asked
        if (beside := _beside(asked)) and (words or file is not None):
            raise ConfigError(f"--{beside}: leave out the names of sounds, which --seconds continues")
        if asked.seconds and not words and file is None:
            names = [asked.label] if asked.label is not None or not self.classes else self.classes
            count = asked.sample or 1
            return [
                Request(asked.prime, names[number % len(names)], asked.like, asked.seconds, number)
                for number in range(count)
            ]
        sounds = super().read(words, file)
        seconds = asked.seconds or 0.0
        return [None if one is None else Request(one, asked.label, None, seconds) for one in sounds]

    def form(self) -> tuple[Field, ...]:
        """The class or the spectrogram, if the network is asked for one, the seconds, and the number of the sound."""
        return (
            *[Field("class")] * bool(self.classes),
            *[Field("like", kind="file")] * self.takes_like,
            Field("seconds"),
            Field("number"),
        )

    def entered(self, values: Sequence[str]) -> Request:
        given = dict(zip((field.label for field in self.form()), values, strict=True))
        if not given["number"].isdecimal() or not int(given["number"]):
            raise UnusableInput(
                f"number: found {given['number']!r}, expected a whole number from 1 on; each makes another sound"
            )
        try:
            seconds = float(given["seconds"])
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= 60:
            raise UnusableInput(f"seconds: found {given['seconds']!r}, expected a number above 0 and at most 60")
        like = self.parse(given["like"]) if "like" in given else None
        return Request(None, given.get("class"), like, seconds, int(given["number"]) - 1)

    # Predictions

    def row(self, prediction: WavePrediction) -> list[Any]:
        found = prediction.to_dict()
        keys = ("sound", "seconds", "kept_seconds", "bits_per_sample", "nats_per_sample")
        return [found[key] for key in keys]

    def blocks(self, prediction: WavePrediction, examined: ExaminedWave | None = None) -> list[Block]:
        sound, kept = prediction.sound, prediction.kept
        begin = kept / sound.rate
        above = "made" if not kept else "scored" if kept == len(sound.samples) else f"continued after {begin:.2f} s"
        truth = None if examined is None or examined.truth is None else ("class", examined.truth)
        under = f"{sound.seconds:.2f} s, {prediction.bits_per_sample:.3f} bits per sample"
        return [Head(sound.name, above=above, under=under, truth=truth), heard(prediction)]

    def files(self, predictions: Sequence[Any | None], options: Namespace) -> Mapping[Path, str | bytes]:
        real = [one.sound for one in predictions if one is not None]
        if options.out is None:
            return {}
        several = len(real) > 1
        paths = [options.out.with_stem(f"{options.out.stem}-{number}") for number in range(1, len(real) + 1)]
        found = zip(paths if several else [options.out], real, strict=False)
        return {path: wav(one.samples.numpy(), one.rate) for path, one in found}

    # Whole splits

    def validation_pictures(self, task: Any) -> Pictures:
        first = task.first()
        return self._made(task, first) if task.samples and first is not None and task.due() else {}

    def test_pictures(self, task: Any) -> Pictures:
        first = task.first()
        return self._made(task, first) if task.samples and first is not None else {}

    def _made(self, task: Any, first: Any) -> Pictures:
        """Sounds that the network makes, of the classes of the first sounds of a split."""

        def samples() -> Any:
            blank = task.blank(first.to(task.device), round(task.sample_seconds * task.spec.rate))
            names = [f"sample {number + 1}" for number in range(len(first))]
            if first.label is not None and task.classes_to_make:
                names = [task.spec.classes[one] for one in first.label.tolist()]
            return draw(
                [block for one in task.predictions(blank, names) for block in (Head(one.sound.name), heard(one))]
            )

        return {"samples": samples}


def _beside(options: Namespace) -> str | None:
    """The first option that was given among those that need --seconds and no sounds."""
    return next((name for name in BESIDE if getattr(options, name) is not None), None)


def heard(prediction: WavePrediction) -> AttendedSound:
    """A sound that can be played, with its surprisal over time."""
    sound = prediction.sound
    size = max(1, round(COLUMN * sound.rate))
    count = ceil(len(prediction.bits) / size)
    padded = np.full(count * size, np.nan, np.float32)
    padded[: len(prediction.bits)] = prediction.bits
    means = np.nanmean(padded.reshape(count, size), 1)
    bits = prediction.bits_per_sample * len(prediction.bits)
    surprisals = Transcript("", ("bits",), -bits, -bits, True, (tuple(means.tolist()),), size / sound.rate, ())
    part = 0 < prediction.kept < len(sound.samples)
    spans = [(0.0, prediction.kept / sound.rate)] if part else []
    keys = (SURPRISAL, *[GIVEN] * part)
    recording = wav(sound.samples.numpy(), sound.rate)
    features = prediction.frames.float().numpy()
    return AttendedSound(sound.name, recording, sound.seconds, features, surprisals, spans, keys=keys, placed=False)
