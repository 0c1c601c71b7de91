"""The view of adversarial training: generated pictures, and what chosen places of them attended to."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from zoo.errors import ConfigError
from zoo.predicting.adversarial import AttendedPicture, ExaminedGeneration
from zoo.visualize.blocks import Block, Head
from zoo.visualize.captioning import overlay
from zoo.visualize.drawing import Key
from zoo.visualize.pictures import PicturesView
from zoo.visualize.renderers.figure import draw
from zoo.visualize.tiles import Tile, Tiles
from zoo.visualize.view import AttentionMap, Pictures

LOOKS = Key(
    "true",
    "the place that attends; bright: where it looked",
    "Each further picture is bright where the framed place looked, with the largest weight in its title.",
)
FINER = 8  # Pixels of an attended picture per pixel, so that the light is smooth
PLACES = ((1 / 2, 1 / 2), (1 / 4, 1 / 4), (1 / 4, 3 / 4), (3 / 4, 1 / 4), (3 / 4, 3 / 4))
"""Places that are shown by default, as shares of the height and the width."""


class AdversarialView(PicturesView):
    """Generated pictures, and the critic's opinion of given ones."""

    columns: ClassVar[tuple[str, ...]] = ("picture", "generated", "critic's score")
    title = "What the places of a picture attended to"
    chosen: Sequence[tuple[int, int]] = ()  # (row, column) of the pixels whose attention is shown

    def options(self, group: _ArgumentGroup) -> None:
        super().options(group)
        group.add_argument(
            "--places", metavar="R,C ...", help="show the attention of these pixels, such as '6,6 3,9', counted from 1"
        )

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        if options.places is not None and not predictor.task.network.attends:
            raise ConfigError("--places: this network has no attention; leave it out")
        if options.places is not None:
            self.chosen = [self._place(one, predictor.task.spec) for one in options.places.split()]

    @staticmethod
    def _place(given: str, spec: Any) -> tuple[int, int]:
        parts = given.split(",")
        if len(parts) == 2 and all(part.isdecimal() for part in parts):
            row, column = (int(part) - 1 for part in parts)
            if 0 <= row < spec.height and 0 <= column < spec.width:
                return row, column
        raise ConfigError(f"--places {given}: expected ROW,COLUMN from 1,1 to {spec.height},{spec.width}")

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

    def _shown(self, prediction: AttendedPicture) -> Sequence[tuple[int, int]]:
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

    # Whole splits

    def validation_pictures(self, task: Any) -> Pictures:
        return {"samples": lambda: self._samples(task)} if task.samples and task.due() else {}

    def test_pictures(self, task: Any) -> Pictures:
        return {"samples": lambda: self._samples(task)} if task.samples else {}

    def _samples(self, task: Any) -> Any:
        """Generated pictures, of each class in sequence."""
        found = task.sampled(task.samples)
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
    return Tile(pixels, f"{weights.max():.2f}", boxes=(box,), finer=FINER)
