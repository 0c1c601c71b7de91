"""The view of density: pictures that were scored, completed or drawn, and the surprisal of each pixel."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch

from zoo.arguments import Count, NonNegative, Probability
from zoo.data.captions.files import SUFFIXES
from zoo.data.pictures.encoding import Canvas
from zoo.errors import ConfigError, did_you_mean
from zoo.layers.modes import evaluating
from zoo.predicting.density import ExaminedPicture, PicturePrediction
from zoo.values import hold
from zoo.visualize.blocks import Block, Head
from zoo.visualize.drawing import Key
from zoo.visualize.files import FileView
from zoo.visualize.renderers.figure import draw
from zoo.visualize.tiles import Tile, Tiles, heat, png, sheet
from zoo.visualize.view import Field, Pictures

SURPRISAL = Key(
    "words",
    "surprisal: dark pixels had a low probability",
    "The darker a pixel of the second picture, the lower was its probability, given all pixels before it.",
)
DRAWN = Key("true", "the network drew what is under the line", "The network drew what is under the line.")


class DensityView(FileView):
    """Pictures with the surprisal of their pixels."""

    noun, typed = "picture", "picture.png"
    columns: ClassVar[tuple[str, ...]] = ("picture", "kept rows", "nats", "bits per dim")
    title = "Pictures, pixel by pixel"
    shows = "surprisal"

    @property
    def suffixes(self) -> Collection[str]:
        return SUFFIXES

    def form(self) -> tuple[Field, ...]:
        return (Field("picture", kind="image"),)

    def entered(self, values: Sequence[str]) -> Any:
        return self.parse(values[0])

    def try_it(self, data: Any) -> str:
        return "--sample 16"

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--complete", type=float, metavar="SHARE", help="draw this lower share of a picture anew")
        group.add_argument("--sample", type=int, metavar="N", help="draw N pictures")
        group.add_argument("--class", dest="label", metavar="NAME", help="the class to draw, of a network that has one")
        group.add_argument("--factors", metavar="A,B,...", help="the numbers that describe the picture to draw")
        group.add_argument("--temperature", type=float, metavar="T", help="divide the scores by T (0: the likeliest)")
        group.add_argument("--seed", type=int, default=1, metavar="S", help="draw other pictures (default 1)")
        group.add_argument("--out", type=Path, metavar="FILE.png", help="write the pictures themselves, on one sheet")

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        task = predictor.task
        task.seed = options.seed
        if options.temperature is not None:
            hold("--temperature", options.temperature, NonNegative)
            task.temperature = options.temperature
        if options.complete is not None:
            hold("--complete", options.complete, Probability)
            task.complete = options.complete
        if options.sample is not None:
            hold("--sample", options.sample, Count)
            if options.words or options.file or options.complete is not None:
                raise ConfigError("--sample draws whole pictures; leave --complete and the names of pictures out")
        self.wanted, self.conditions = options, task.network.conditions
        self.classes = list(task.spec.classes)
        if options.label is not None and self.conditions != "label":
            raise ConfigError("--class: this network draws all classes; train one with model.condition=label")
        if options.label is not None and options.label not in self.classes:
            raise ConfigError(f"--class {options.label}: unknown class; {did_you_mean(options.label, self.classes)}")
        self.factors = self._factors(options.factors, predictor)

    def _factors(self, given: str | None, predictor: Any) -> tuple[float, ...]:
        if given is None:
            return ()
        if self.conditions != "factors":
            raise ConfigError("--factors: this network does not read any; train one with model.condition=factors")
        try:
            return tuple(float(one) for one in given.split(","))
        except ValueError as error:
            names = ",".join(predictor.encoder.factors)
            raise ConfigError(f"--factors {given}: expected numbers, {names}") from error

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        if self.wanted.sample is None:
            pictures = super().read(words, file)
            if self.conditions is None:
                return pictures
            return [None if one is None else Canvas(one, self.wanted.label, self.factors) for one in pictures]
        if self.conditions == "label" and self.wanted.label is None:  # all classes by turns
            return [Canvas(label=self.classes[n % len(self.classes)], number=n) for n in range(self.wanted.sample)]
        given = {"label": self.wanted.label, "factors": self.factors}
        return [Canvas(**given, number=n) for n in range(self.wanted.sample)]

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

    def files(self, predictions: Sequence[Any | None], options: Namespace) -> dict[Path, str | bytes]:
        real = [one.pixels for one in predictions if one is not None]
        return {options.out: png(sheet(real))} if options.out is not None and real else {}

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
            with evaluating(task.network):
                image = task.draw(batch, batch.known)
            names = [] if batch.label is None else [task.spec.classes[one] for one in batch.label.tolist()]
            return draw([Tiles([Tile(one, name) for one, name in _named(task.shown(image), names)])])

        def completed() -> Any:
            batch, height = first.to(task.device), task.spec.height
            kept = torch.full_like(batch.index, height // 2)
            with evaluating(task.network):
                image = task.draw(batch, kept)
            pairs = zip(task.shown(batch.image), task.shown(image), strict=True)
            tiles = [
                tile for true, made in pairs for tile in (Tile(true, "true"), Tile(made, "completed", height // 2))
            ]
            return draw([Tiles(tiles, columns=6, keys=(DRAWN,))])

        return {"samples": samples, "completed": completed}

    def _field(self, task: Any, first: Any) -> Any:
        """The influence of each pixel on the scores of the one in the middle."""
        row, column = task.spec.height // 2, task.spec.width // 2
        with evaluating(task.network):
            found = task.influence(first.to(task.device), row, column)
        under = f"{int((found > 0).sum())} of {row * task.spec.width + column} pixels before it change its distribution"
        head = Head(f"pixel in row {row + 1}, column {column + 1}", above="receptive field", under=under)
        most = float(found.max()) or 1.0
        tiles = [Tile(heat(found**0.5, most**0.5), "influence", boxes=[(row, column, 1, 1)])]
        reached = (found > 0).astype(float)
        return draw([head, Tiles([*tiles, Tile(heat(reached, 2.0), "not zero", boxes=[(row, column, 1, 1)])])])


def _named(pictures: Any, names: Sequence[str]) -> Any:
    return zip(pictures, names or [""] * len(pictures), strict=True)
