"""The common part of the views of pictures: pictures from files, pictures to draw, and the sheet that --out writes."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zoo.data.captions.files import SUFFIXES
from zoo.data.pictures.encoding import Canvas
from zoo.errors import ConfigError, UnusableInput, did_you_mean
from zoo.files import make_folder
from zoo.visualize.files import FileView
from zoo.visualize.tiles import png, sheet
from zoo.visualize.view import Field

MOST = 10_000  # Pictures that are drawn at once


class PicturesView(FileView):
    """Reads pictures, or says which ones to draw."""

    noun, typed = "picture", "picture.png"
    alone: ClassVar[tuple[str, ...]] = ()  # Options that exclude --sample
    sample: int | None = None
    label: str | None = None
    factors: tuple[float, ...] = ()
    classes: Sequence[str] = ()  # The classes among which the network can be asked to draw one
    takes_factors = False

    @property
    def suffixes(self) -> Collection[str]:
        return SUFFIXES

    def try_it(self, data: Any) -> str:
        return "--sample 16"

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--sample", type=int, metavar="N", help="draw N pictures")
        group.add_argument("--class", dest="label", metavar="NAME", help="the class to draw, of a network that has one")
        group.add_argument("--seed", type=int, default=1, metavar="S", help="draw other pictures (default 1)")
        group.add_argument("--out", type=Path, metavar="FILE.png", help="write the pictures themselves, on one sheet")

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        if options.seed < 0:
            raise ConfigError(f"--seed={options.seed}: expected a whole number from 0 on")
        predictor.task.seed = options.seed
        if options.out is not None:
            if options.out.suffix.lower() != ".png":
                raise ConfigError(f"--out {options.out}: expected the name of a file that ends in .png")
            make_folder("--out", options.out)
        self.classes = predictor.task.classes_to_draw
        if options.label is not None and not self.classes:
            raise ConfigError("--class: this network is not asked for a class; train one with model.condition=label")
        if options.label is not None and options.label not in self.classes:
            raise ConfigError(f"--class {options.label}: unknown class; {did_you_mean(options.label, self.classes)}")
        if options.sample is not None:
            if not 1 <= options.sample <= MOST:
                raise ConfigError(f"--sample={options.sample}: expected a whole number from 1 to {MOST}")
            beside = [f"--{name}" for name in self.alone if getattr(options, name) is not None]
            beside += ["the names of pictures"] * bool(options.words or options.file)
            if beside:
                raise ConfigError(f"--sample draws whole pictures; leave out {' and '.join(beside)}")
        self.sample, self.label = options.sample, options.label

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        if self.sample is None:
            pictures = super().read(words, file)
            return [None if one is None else Canvas(one, self.label, self.factors) for one in pictures]
        names = [self.label] if self.label is not None or not self.classes else self.classes  # each class in sequence
        return [Canvas(None, names[n % len(names)], self.factors, n) for n in range(self.sample)]

    def form(self) -> tuple[Field, ...]:
        """The class, if the network is asked for one, and the number of a picture to draw."""
        return (*[Field("class")] * bool(self.classes), *[Field("factors")] * self.takes_factors, Field("number"))

    def entered(self, values: Sequence[str]) -> Canvas:
        given = dict(zip((field.label for field in self.form()), values, strict=True))
        if not given["number"].isdecimal() or not int(given["number"]):
            raise UnusableInput(
                f"number: found {given['number']!r}, expected a whole number from 1 on; each draws another picture"
            )
        factors = numbers("factors", given["factors"], "numbers with commas between") if self.takes_factors else ()
        return Canvas(None, given.get("class"), factors, int(given["number"]) - 1)

    def files(self, predictions: Sequence[Any | None], options: Namespace) -> Mapping[Path, str | bytes]:
        real = [one.pixels for one in predictions if one is not None]
        return {options.out: png(sheet(real))} if options.out is not None and real else {}


def numbers(key: str, given: str, expected: str) -> tuple[float, ...]:
    """Numbers with commas between. Raises UnusableInput for anything else."""
    try:
        found = tuple(float(one) for one in given.split(","))
    except ValueError as error:
        raise UnusableInput(f"{key} {given}: expected {expected}") from error
    if not np.isfinite(np.array(found, np.float32)).all():
        raise UnusableInput(f"{key} {given}: expected finite numbers")
    return found
