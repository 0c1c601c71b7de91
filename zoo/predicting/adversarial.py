"""Pictures that a generator makes of noise, and what its places attended to; a critic's score of any picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.pictures.batch import PictureBatch, PictureSpec, as_bytes, scaled, to_levels
from zoo.data.pictures.encoding import Canvas, PictureEncoder
from zoo.errors import ConfigError
from zoo.layers.modes import evaluating
from zoo.predicting.predicting import Examined, Predicting, Prediction, names_at


@dataclass(frozen=True)
class AttendedPicture(Prediction):
    """A generated picture or a given one, the critic's score of it, and the attention of the network that made it, or
    that read it."""

    name: str
    pixels: NDArray[np.uint8]  # (H, W, C) bytes
    generated: bool
    score: float  # Of the critic: above 0 it takes the picture for a real one
    label: str | None = None
    attention: NDArray[np.float32] | None = None
    """(N, M) weights of each place of a feature map on its keys; None where the network has no attention."""

    @property
    def places(self) -> tuple[int, int]:
        """The rows and columns of the feature map that attends."""
        return grid_of(0 if self.attention is None else self.attention.shape[0], self.pixels.shape)

    @property
    def keys(self) -> tuple[int, int]:
        """The rows and columns of the map of keys."""
        return grid_of(0 if self.attention is None else self.attention.shape[1], self.pixels.shape)

    def to_dict(self) -> dict[str, Any]:
        return {
            "picture": self.name,
            "generated": self.generated,
            "class": self.label,
            "score": round(self.score, 4),
            "pixels": self.pixels.tolist(),
        }


@dataclass(frozen=True)
class ExaminedGeneration(Examined):
    """A generated picture of the class of an example."""

    prediction: AttendedPicture


class AdversarialPredictions(Predicting):
    """The pictures of any network with a generator and a critic."""

    name = "adversarial"
    view: ClassVar[str] = "zoo.visualize.adversarial.AdversarialView"
    spec: PictureSpec
    encoder: PictureEncoder
    seed: int = 1
    """The seed of the noise."""

    @property
    def classes_to_draw(self) -> tuple[str, ...]:
        """The classes that the network can be asked for; empty if it does not depend on the class."""
        return self.spec.classes if self.network.condition == "label" else ()

    def predictions(self, batch: PictureBatch, words: list[Any]) -> list[AttendedPicture]:
        """Pictures of noise for the empty pictures of a batch, and scores of the others; `words` are their names."""
        self.check_label(batch)
        blank = torch.ones_like(batch.index, dtype=torch.bool) if batch.known is None else batch.known == 0
        made, attention = self.network.generate(self.noise(batch.index), batch.label)
        image = torch.where(blank[:, None, None, None], to_levels(made, self.spec.levels), batch.image)
        scores, seen = self.network.criticise(scaled(image, self.spec.levels, made), batch.label)
        known = names_at(batch.label, self.spec.classes)
        names: Sequence[str | None] = known or [None] * len(batch)
        found = []
        for number, (name, pixels) in enumerate(zip(words, as_bytes(image, self.spec.levels), strict=True)):
            generated = bool(blank[number])
            weights = attention.get("generator") if generated else seen.get("discriminator")
            own = None if weights is None else weights[number].float().cpu().numpy()
            one = AttendedPicture(str(name), pixels, generated, float(scores[number]), names[number], own)
            found.append(one)
        return found

    def sampled(self, count: int) -> list[AttendedPicture]:
        """So many generated pictures, of each class in sequence."""
        classes: Sequence[str | None] = self.classes_to_draw or [None]
        canvases = [Canvas(label=classes[number % len(classes)], number=number) for number in range(count)]
        batch = self.encoder(canvases).to(next(self.network.parameters()).device)
        with evaluating(self.network):
            return self.predictions(batch, [self.encoder.display(one) for one in canvases])

    def examine(self, batch: PictureBatch) -> list[ExaminedGeneration]:
        """A generated picture of each class of a batch."""
        blank = replace(batch, known=torch.zeros_like(batch.index))
        names = names_at(batch.label, self.spec.classes)
        words = names or [f"sample {number}" for number in batch.index.tolist()]
        return self.examined(ExaminedGeneration, blank, words, names)

    def noise(self, numbers: Tensor, *more: int) -> Tensor:
        """(B, Z) noise that depends on the seed and on the number of each picture alone."""
        rows = [noise_of(self.network.noise_dim, self.seed, *more, number) for number in numbers.tolist()]
        return torch.from_numpy(np.stack(rows)).to(next(self.network.parameters()))

    def check_label(self, batch: PictureBatch) -> None:
        """Raise ConfigError for a batch without classes if the network depends on them."""
        if self.network.condition == "label" and batch.label is None:
            raise ConfigError(
                "this network reads the class of a picture, and none was given: use --class NAME, or Canvas(label=NAME)"
            )


def noise_of(width: int, *seed: int) -> NDArray[np.float32]:
    """(width,) of a standard normal distribution, by a seed of several numbers."""
    return np.random.default_rng(seed).standard_normal(width, np.float32)


def grid_of(places: int, shape: Sequence[int]) -> tuple[int, int]:
    """The rows and columns of a map with so many places, in the proportions of a picture (H, W, ...)."""
    if not places:
        return 0, 0
    rows = max(1, round((places * shape[0] / shape[1]) ** 0.5))
    while places % rows:
        rows -= 1
    return rows, places // rows
