"""Small pictures of random levels, for `density`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import log
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import Family, precise
from zoo.data.pictures.batch import PictureBatch, PictureSpec
from zoo.models.output import Output


class Pictures(Family):
    """Pictures of two colours, so that any even width can be divided into groups. They have no padding."""

    task_class = "zoo.tasks.density.Density"
    spec = PictureSpec(channels=2, height=4, width=5, levels=3, classes=("a", "b", "c"), factors=2)
    singles = ("image", "label", "factors", "index")
    ordered = True
    targets: ClassVar[tuple[str, ...]] = ()

    def batch(self, seed: int, *, empty: bool = True) -> PictureBatch:
        generator = torch.Generator().manual_seed(seed)
        shape = (5, self.spec.channels, self.spec.height, self.spec.width)
        image = torch.randint(0, self.spec.levels, shape, generator=generator, dtype=torch.uint8)
        return PictureBatch(image, torch.tensor([0, 2, 1, 1, 0]), torch.randn(5, 2, generator=generator))

    def long_batch(self) -> PictureBatch:
        return self.batch(2)

    def values(self, image: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, T), in the order in which they are predicted."""
        return image.permute(0, 2, 3, 1).flatten(1)

    def scores(self, output: Output, batch: PictureBatch) -> Tensor:
        return output.logits.permute(0, 3, 4, 2, 1).flatten(1, 3)

    def loss(self, output: Output, batch: PictureBatch) -> Tensor:
        return F.cross_entropy(precise(output.logits), batch.image.long())

    def changed(self, batch: PictureBatch, place: int) -> tuple[PictureBatch, Tensor]:
        pixel, colour = divmod(place, self.spec.channels)
        row, column = divmod(pixel, self.spec.width)
        image = batch.image.clone()
        image[:, colour, row, column] = (image[:, colour, row, column] + 1) % self.spec.levels
        return replace(batch, image=image), torch.ones(len(batch), dtype=torch.bool)

    def floor(self, batch: PictureBatch) -> float:
        """The entropy of a value given those before it, where the pictures of the batch are known by heart."""
        rows = [tuple(row) for row in self.values(batch.image).tolist()]
        after = Counter(begin for row in rows for begin in _beginnings(row))
        return sum(count * log((after[begin[:-1]] or len(rows)) / count) for begin, count in after.items()) / sum(
            after.values()
        )


def _beginnings(row: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return (row[:end] for end in range(1, len(row) + 1))


FAMILY = Pictures()
