"""The view of adversarial training: generated pictures, and what chosen places of them attended to."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from zoo.arguments import Count
from zoo.data.captions.files import SUFFIXES
from zoo.data.pictures.encoding import Canvas
from zoo.errors import ConfigError, did_you_mean
from zoo.layers.modes import evaluating
from zoo.predicting.adversarial import AttendedPicture, ExaminedGeneration
from zoo.values import hold
from zoo.visualize.blocks import Block, Head
from zoo.visualize.captioning import overlay
from zoo.visualize.drawing import Key
from zoo.visualize.files import FileView
from zoo.visualize.renderers.figure import draw
from zoo.visualize.tiles import Tile, Tiles, png, sheet
from zoo.visualize.view import AttentionMap, Field, Pictures

LOOKS = Key(
    "true",
    "the place that attends; bright: where it looked",
    "Each further picture is bright where the framed place looked, with the largest weight in its title.",
)
FINER = 8  # Pixels of an attended picture per pixel, so that the light is smooth
PLACES = ((1 / 2, 1 / 2), (1 / 4, 1 / 4), (1 / 4, 3 / 4), (3 / 4, 1 / 4), (3 / 4, 3 / 4))
"""Places that are shown by default, as shares of the height and the width."""


class AdversarialView(FileView):
    """Generated pictures, and the critic's opinion of given ones."""

    noun, typed = "picture", "picture.png"
    columns: ClassVar[tuple[str, ...]] = ("picture", "generated", "critic's score")
    title = "What the places of a picture attended to"
    needs: ClassVar[tuple[str, str] | None] = None

    def __init__(self) -> None:
        self.chosen: list[tuple[int, int]] | None = None  # (row, column) pixels

    @property
    def suffixes(self) -> Collection[str]:
        return SUFFIXES

    def form(self) -> tuple[Field, ...]:
        return (Field("class or seed", 1),)

    def try_it(self, data: Any) -> str:
        return "--sample 16"

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--sample", type=int, metavar="N", help="generate N pictures")
        group.add_argument("--class", dest="label", metavar="NAME", help="the class of the pictures")
        group.add_argument("--seed", type=int, default=1, metavar="S", help="generate other pictures (default 1)")
        group.add_argument(
            "--places", metavar="R,C ...", help="show the attention of these pixels, such as '6,6 3,9', counted from 1"
        )
        group.add_argument("--out", type=Path, metavar="FILE.png", help="write the pictures themselves, on one sheet")

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        predictor.task.seed = options.seed
        self.wanted, spec = options, predictor.task.spec
        self.classes = list(spec.classes) if predictor.task.network.condition == "label" else []
        if options.label is not None and options.label not in self.classes:
            hint = did_you_mean(options.label, self.classes) if self.classes else "this network knows no classes"
            raise ConfigError(f"--class {options.label}: unknown class; {hint}")
        if options.sample is not None:
            hold("--sample", options.sample, Count)
            if options.words or options.file:
                raise ConfigError("--sample generates pictures; leave the names of pictures out")
        if options.places is not None:
            self.chosen = [self._place(one, spec) for one in options.places.split()]

    @staticmethod
    def _place(given: str, spec: Any) -> tuple[int, int]:
        parts = given.split(",")
        if len(parts) == 2 and all(part.isdecimal() for part in parts):
            row, column = (int(part) - 1 for part in parts)
            if 0 <= row < spec.height and 0 <= column < spec.width:
                return row, column
        raise ConfigError(f"--places {given}: expected ROW,COLUMN from 1,1 to {spec.height},{spec.width}")

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        label = self.wanted.label
        if self.wanted.sample is None:
            return [None if one is None else Canvas(one, label) for one in super().read(words, file)]
        if label is None and self.classes:  # all classes by turns
            return [Canvas(label=self.classes[n % len(self.classes)], number=n) for n in range(self.wanted.sample)]
        return [Canvas(label=label, number=n) for n in range(self.wanted.sample)]

    def row(self, prediction: AttendedPicture) -> list[Any]:
        return [prediction.name, prediction.generated, round(prediction.score, 4)]

    def blocks(self, prediction: AttendedPicture, examined: ExaminedGeneration | None = None) -> list[Block]:
        above = "generated" if prediction.generated else "given"
        head = Head(prediction.name, above=above, under=f"the critic's score is {prediction.score:.2f}")
        whole = Tile(prediction.pixels)
        if prediction.attention is None:
            return [head, Tiles([whole])]
        tiles = [whole, *(attended(prediction, place) for place in self._shown(prediction))]
        return [head, Tiles(tiles, looks=True, keys=(LOOKS,))]

    def _shown(self, prediction: AttendedPicture) -> list[tuple[int, int]]:
        """The pixels whose attention is shown."""
        height, width = prediction.pixels.shape[:2]
        return self.chosen or [(int(row * height), int(column * width)) for row, column in PLACES]

    def maps(self, predictor: Any, given: Any, prediction: AttendedPicture) -> list[AttentionMap]:
        if prediction.attention is None:
            return []
        rows, columns = (
            [f"{row + 1}, {column + 1}" for row in range(down) for column in range(across)]
            for down, across in (prediction.places, prediction.keys)
        )
        return [AttentionMap("places and keys (row, column)", prediction.attention, rows, columns)]

    def files(self, predictions: Sequence[Any | None], options: Namespace) -> dict[Path, str | bytes]:
        real = [one.pixels for one in predictions if one is not None]
        return {options.out: png(sheet(real))} if options.out is not None and real else {}

    # Whole splits

    def validation_pictures(self, task: Any) -> Pictures:
        return {"samples": lambda: self._samples(task)} if task.samples and task.due() else {}

    def test_pictures(self, task: Any) -> Pictures:
        return {"samples": lambda: self._samples(task)} if task.samples else {}

    def _samples(self, task: Any) -> Any:
        """Generated pictures, of all classes by turns."""
        classes = task.spec.classes if task.network.condition == "label" else ()
        names = [classes[one % len(classes)] for one in range(task.samples)] if classes else [None] * task.samples
        batch = task.encoder([Canvas(label=name, number=n) for n, name in enumerate(names)]).to(task.device)
        with evaluating(task.network):
            found = task.predictions(batch, [name or "" for name in names])
        return draw([Tiles([Tile(one.pixels, one.name) for one in found])])


def attended(prediction: AttendedPicture, pixel: tuple[int, int]) -> Tile:
    """The picture, bright where the place of a pixel looked."""
    height, width = prediction.pixels.shape[:2]
    (rows, columns), keys = prediction.places, prediction.keys
    row, column = pixel[0] * rows // height, pixel[1] * columns // width
    assert prediction.attention is not None
    weights = prediction.attention[row * columns + column]
    size = (height * FINER, width * FINER)
    image = Image.fromarray(Tile(prediction.pixels).colours).resize(size[::-1], Image.Resampling.NEAREST)
    light = Image.alpha_composite(image.convert("RGBA"), overlay(weights.tolist(), keys, size))
    pixels: NDArray[np.uint8] = np.asarray(light.convert("RGB"))
    high, wide = -(-height // rows) * FINER, -(-width // columns) * FINER
    box = (row * height // rows * FINER, column * width // columns * FINER, high, wide)
    return Tile(pixels, f"{weights.max():.2f}", boxes=(box,))
