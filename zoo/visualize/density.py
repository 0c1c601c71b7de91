"""The view of density: pictures that were scored, completed or drawn, and the surprisal of each pixel."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from zoo.errors import ConfigError
from zoo.predicting.density import ExaminedPicture, PicturePrediction
from zoo.visualize.blocks import Block, Head
from zoo.visualize.drawing import Key
from zoo.visualize.pictures import PicturesView, numbers
from zoo.visualize.renderers.figure import draw
from zoo.visualize.tiles import Tile, Tiles, heat
from zoo.visualize.view import Pictures

SURPRISAL = Key(
    "words",
    "surprisal: dark pixels had a low probability",
    "The darker a pixel of the second picture, the lower was its probability, given all pixels before it.",
)
DRAWN = Key("true", "the network drew what is under the line", "The network drew what is under the line.")


class DensityView(PicturesView):
    """Pictures with the surprisal of their pixels."""

    columns: ClassVar[tuple[str, ...]] = ("picture", "kept rows", "nats", "bits per dim")
    title = "Pictures, pixel by pixel"
    shows = "surprisal"
    alone = ("complete",)

    def options(self, group: _ArgumentGroup) -> None:
        super().options(group)
        group.add_argument("--complete", type=float, metavar="SHARE", help="draw this lower share of a picture anew")
        group.add_argument("--factors", metavar="A,B,...", help="the numbers that describe the picture to draw")
        group.add_argument("--temperature", type=float, metavar="T", help="divide the scores by T (0: the likeliest)")

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        predictor.task.draw_by(temperature=options.temperature, complete=options.complete)
        self.takes_factors = predictor.task.network.conditions == "factors"
        if options.factors is not None:
            if not self.takes_factors:
                raise ConfigError("--factors: this network reads none; train one with model.condition=factors")
            self.factors = numbers("--factors", options.factors, ",".join(predictor.encoder.factors))

    def row(self, prediction: PicturePrediction) -> list[Any]:
        return [prediction.name, prediction.kept, round(prediction.nats, 4), round(prediction.bits_per_dimension, 6)]

    def blocks(self, prediction: PicturePrediction, examined: ExaminedPicture | None = None) -> list[Block]:
        height = prediction.pixels.shape[0]
        kept = prediction.kept if 0 < prediction.kept < height else None
        found = f"{prediction.nats:.2f} nats, {prediction.bits_per_dimension:.4f} bits per value"
        above = {0: "drawn", height: "scored"}.get(prediction.kept, f"completed after row {prediction.kept}")
        truth = None if examined is None or examined.truth is None else ("class", examined.truth)
        tiles = [Tile(prediction.pixels, "", kept), Tile(heat(prediction.bits), "surprisal", inked=True)]
        keys = (SURPRISAL, *[DRAWN] * (kept is not None))
        return [Head(prediction.name, above=above, under=found, truth=truth), Tiles(tiles, keys=keys)]

    # Whole splits

    def validation_pictures(self, task: Any) -> Pictures:
        first = task.first()
        return self._drawn(task, first) if task.samples and first is not None and task.due() else {}

    def test_pictures(self, task: Any) -> Pictures:
        first = task.first()
        if not task.samples or first is None:
            return {}
        return {**self._drawn(task, first), "receptive_field": lambda: self._field(task, first)}

    def _drawn(self, task: Any, first: Any) -> Pictures:
        """Samples, and pictures of the split whose lower half is drawn."""

        def samples() -> Any:
            batch = task.like(first)
            image = task.draw(batch, batch.known)
            names = [] if batch.label is None else [task.spec.classes[one] for one in batch.label.tolist()]
            return draw([Tiles([Tile(one, name) for one, name in _named(task.shown(image), names)])])

        def completed() -> Any:
            batch, height = first.to(task.device), task.spec.height
            image = task.draw(batch, torch.full_like(batch.index, height // 2))
            pairs = zip(task.shown(batch.image), task.shown(image), strict=True)
            tiles = [
                tile for true, made in pairs for tile in (Tile(true, "true"), Tile(made, "completed", height // 2))
            ]
            return draw([Tiles(tiles, columns=6, keys=(DRAWN,))])

        return {"samples": samples, "completed": completed}

    def _field(self, task: Any, first: Any) -> Any:
        """The influence of each pixel on the scores of the one in the middle."""
        row, column = task.spec.height // 2, task.spec.width // 2
        found = task.influence(first.to(task.device), row, column)
        under = f"{int((found > 0).sum())} of {row * task.spec.width + column} pixels before it change its distribution"
        head = Head(f"pixel in row {row + 1}, column {column + 1}", above="receptive field", under=under)
        most = float(found.max()) or 1.0
        tiles = [Tile(heat(found**0.5, most**0.5), "influence", boxes=[(row, column, 1, 1)])]
        reached = (found > 0).astype(float)
        return draw([head, Tiles([*tiles, Tile(heat(reached, 2.0), "not zero", boxes=[(row, column, 1, 1)])])])


def _named(pictures: NDArray[np.uint8], names: Sequence[str]) -> Iterable[tuple[NDArray[np.uint8], str]]:
    """Each picture with its name, or without one."""
    return zip(pictures, names or [""] * len(pictures), strict=True)
