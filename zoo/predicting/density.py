"""The likelihood of pictures, and pictures that a network draws pixel by pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from zoo.arguments import NonNegative, Probability
from zoo.data.pictures.batch import PictureBatch, PictureSpec, as_bytes
from zoo.data.pictures.encoding import PictureEncoder
from zoo.decoding.pixels import draw_pictures
from zoo.errors import ConfigError
from zoo.layers.modes import evaluating
from zoo.predicting.predicting import Examined, Predicting, Prediction, names_at
from zoo.values import hold

AT_ONCE = 256  # Pictures that are scored at once for the influence of pixels
INFLUENCED = 4  # Pictures whose influence is measured


@dataclass(frozen=True)
class PicturePrediction(Prediction):
    """A picture that was scored, completed or drawn, and how surprising each pixel is."""

    name: str
    pixels: NDArray[np.uint8]  # (H, W, C) bytes
    kept: int  # The rows that were given; the network drew those below
    bits: NDArray[np.float32]  # (H, W) the surprisal -log2 p of each pixel, the sum over its colours

    @property
    def nats(self) -> float:
        """The surprisal -log p of the whole picture."""
        return float(self.bits.sum(dtype=np.float64)) * log(2)

    @property
    def bits_per_dimension(self) -> float:
        """The mean surprisal of a value in bits."""
        return float(self.bits.sum(dtype=np.float64)) / self.pixels.size

    def to_dict(self) -> dict[str, Any]:
        return {
            "picture": self.name,
            "kept_rows": self.kept,
            "nats": round(self.nats, 4),
            "bits_per_dim": round(self.bits_per_dimension, 6),
            "pixels": self.pixels.tolist(),
        }


@dataclass(frozen=True)
class ExaminedPicture(Examined):
    """A picture of a split with the surprisal of its pixels."""

    prediction: PicturePrediction


class DensityPredictions(Predicting):
    """The surprisals of pictures by any network for `density`, and the pictures that it draws."""

    name = "density"
    view: ClassVar[str] = "zoo.visualize.density.DensityView"
    spec: PictureSpec
    encoder: PictureEncoder
    seed: int = 1
    """The seed of the values that are drawn."""
    temperature: float = 1.0
    complete: float = 0.0
    """The lower share of a picture that is drawn anew."""

    @property
    def classes_to_draw(self) -> tuple[str, ...]:
        """The classes that the network can be asked for; empty if it does not depend on the class."""
        return self.spec.classes if self.network.conditions == "label" else ()

    def draw_by(self, *, temperature: float | None, complete: float | None) -> None:
        """Draw in another way, where a value is not None. Raises ConfigError for values that are not allowed."""
        if temperature is not None:
            hold("--temperature", temperature, NonNegative)
            self.temperature = temperature
        if complete is not None:
            hold("--complete", complete, Probability)
            self.complete = complete

    def predictions(self, batch: PictureBatch, words: list[Any]) -> list[PicturePrediction]:
        """Scored pictures, or completed and drawn ones; `words` are their names."""
        self.check_conditions(batch)
        height = self.spec.height
        kept = torch.full_like(batch.index, height) if batch.known is None else batch.known
        kept = torch.where(kept < height, kept, height - round(self.complete * height))
        image = self.draw(batch, kept)
        bits = self.surprisal(PictureBatch(image, batch.label, batch.factors)).sum(1) / log(2)
        shown = self.shown(image)
        rows = zip(words, shown, kept.tolist(), bits.float().cpu().numpy(), strict=True)
        return [PicturePrediction(str(name), pixels, rows, own) for name, pixels, rows, own in rows]

    def examine(self, batch: PictureBatch) -> list[ExaminedPicture]:
        names = names_at(batch.label, self.spec.classes)
        words = [str(number) for number in batch.index.tolist()]
        return self.examined(ExaminedPicture, batch, words, names)

    def draw(self, batch: PictureBatch, kept: Tensor, hear: Any = None) -> Tensor:
        """(B, C, H, W) levels of the pictures of a batch; the first `kept` (B,) rows of each stay."""
        if bool((kept >= self.spec.height).all()):
            return batch.image
        shape = batch.image.shape[1:]
        rows = [np.random.default_rng((self.seed, number)).random(shape) for number in batch.index.tolist()]
        random = torch.from_numpy(np.stack(rows)).to(batch.image.device)
        with evaluating(self.network):
            return draw_pictures(self.network, batch, kept, random=random, temperature=self.temperature, hear=hear)

    def surprisal(self, batch: PictureBatch) -> Tensor:
        """(B, C, H, W) -log p of each value in nats."""
        return surprisal(self.network(batch).logits, batch.image)

    def shown(self, image: Tensor) -> NDArray[np.uint8]:
        """(B, H, W, C) bytes of levels (B, C, H, W); the highest level is 255."""
        return as_bytes(image, self.spec.levels)

    def blank(self, labels: Sequence[int] | None, factors: Tensor | None, count: int) -> PictureBatch:
        """A batch of `count` empty pictures to draw, of classes by number or with factors (count, F)."""
        spec, device = self.spec, next(self.network.parameters()).device
        image = torch.zeros(count, spec.channels, spec.height, spec.width, dtype=torch.uint8, device=device)
        label = None if labels is None else torch.tensor(list(labels), device=device)
        known = torch.zeros(count, dtype=torch.long, device=device)
        return PictureBatch(image, label, None if factors is None else factors.to(device), known)

    def influence(self, batch: PictureBatch, row: int, column: int) -> NDArray[np.float64]:
        """(H, W) how much the log-probabilities of a pixel change when another pixel changes, the largest change over
        the pictures of a batch, 0 for pixels that are not read."""
        spec = self.spec
        found = np.zeros(spec.height * spec.width)
        for number in range(min(len(batch), INFLUENCED)):
            image = batch.image[number]
            changed = image.expand(spec.height * spec.width, *image.shape).clone()
            each = torch.arange(len(changed), device=image.device)
            rows, columns = each // spec.width, each % spec.width
            changed[each, :, rows, columns] = spec.levels - 1 - changed[each, :, rows, columns]
            given = {name: getattr(batch, name) for name in ("label", "factors")}
            own = {
                name: None if part is None else part[number].expand(len(each), *part.shape[1:])
                for name, part in given.items()
            }
            with evaluating(self.network):
                before, after = (
                    torch.cat([self._scores_at(one, own, row, column) for one in some.split(AT_ONCE)])
                    for some in (image[None].expand_as(changed), changed)
                )
            found = np.maximum(found, (after - before).abs().flatten(1).amax(1).double().cpu().numpy())
        return found.reshape(spec.height, spec.width)

    def _scores_at(self, image: Tensor, given: dict[str, Tensor | None], row: int, column: int) -> Tensor:
        """(B, L, C) log-probabilities of one pixel."""
        own = {name: None if part is None else part[: len(image)] for name, part in given.items()}
        scores = self.network(PictureBatch(image, own["label"], own["factors"])).logits[..., row, column]
        return scores.log_softmax(1)

    def check_conditions(self, batch: PictureBatch) -> None:
        """Raise ConfigError for a batch without the facts that the network depends on."""
        needed = self.network.conditions
        if needed is not None and getattr(batch, needed) is None:
            raise ConfigError(
                "this network reads the "
                + ("class" if needed == "label" else "factors")
                + " of a picture, and none was given: use "
                + ("--class NAME, or Canvas(label=NAME)" if needed == "label" else "--factors, or Canvas(factors=...)")
            )


def surprisal(scores: Tensor, image: Tensor) -> Tensor:
    """(B, C, H, W) -log p of each value in nats, from scores (B, L, C, H, W) and levels (B, C, H, W)."""
    return F.cross_entropy(scores.float() if scores.dtype.itemsize < 4 else scores, image.long(), reduction="none")
