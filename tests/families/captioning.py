"""Pictures and captions of them, for `captioning`."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from torch import Tensor

from tests.families import Writing, mask_of
from zoo.data.images.batch import ImageBatch, ImageSpec

TINTS = ((200, 40, 30), (30, 160, 60), (40, 50, 190), (190, 180, 60))
"""Sizes of the pictures."""


class Pictures(Writing):
    """Pictures and captions of them, for `captioning`.

    The grid is finer than the pictures need: a row of attention has as many cells as `LONG` positions. Grid and
    pictures are not square, so that rows and columns differ.
    """

    task_class = "zoo.tasks.captioning.Captioning"
    penalty: ClassVar[dict[str, Any]] = {
        "doubly_stochastic": {"_target_": "zoo.objectives.CoverageLoss", "weight": 0.1, "tau": 1.0}
    }
    spec = ImageSpec(channels=3, height=32, width=40, target_size=30, longest_target=12, grid=(16, 25))
    encoder = SimpleNamespace()
    grids: ClassVar[dict[str, str]] = {"target": "target_mask"}
    singles = ("picture",)

    def batch(self, seed: int, *, empty: bool = True) -> ImageBatch:
        """Two captions are equal and of one picture, another is the end alone.

        With `empty` a further caption describes the first picture in other words, and the last is the end alone, of an
        empty picture.
        """
        generator = torch.Generator().manual_seed(seed)
        image = torch.stack([self._picture(tint, generator) for tint in TINTS])
        captions = [self._caption(length, generator) for length in (6, 4, 1, 7)]
        picture, captions = [1, 0, 3, 2, 0], [*captions, captions[1]]  # the number of a row is not that of its picture
        if empty:
            image = torch.cat([image, torch.zeros_like(image[:1])])
            picture, captions = [*picture, 1, 4], [*captions, self._caption(3, generator), [self.spec.end]]
        return self._of(image, picture, captions)

    def long_batch(self) -> ImageBatch:
        return self.batch(1, empty=False)

    def _picture(self, tint: Sequence[int], generator: torch.Generator) -> Tensor:
        """(3, H, W) discs of some colours on a ground of another, which has a slope, all of it with a tint: what a
        network that is trained at a high rate can hardly tell apart it would not learn."""
        height, width = self.spec.height, self.spec.width
        y, x = torch.meshgrid(torch.arange(height) / height, torch.arange(width) / width, indexing="ij")
        ground, down, right = torch.rand(3, 3, 1, 1, generator=generator)
        image = 200 * ground + 50 * (down * y + right * x)
        for _ in range(3):
            top, left, radius = torch.rand(3, generator=generator).tolist()
            colour = 255 * torch.rand(3, 1, 1, generator=generator)
            image = torch.where((y - top) ** 2 + (x - left) ** 2 < (0.12 + 0.15 * radius) ** 2, colour, image)
        return ((image + torch.tensor(tint).view(3, 1, 1)) / 2).byte()

    def _caption(self, length: int, generator: torch.Generator) -> list[int]:
        words = torch.randint(self.spec.end + 1, self.spec.target_size, (length - 1,), generator=generator)
        return [*words.tolist(), self.spec.end]

    def _of(self, image: Tensor, picture: Sequence[int], captions: Sequence[Sequence[int]]) -> ImageBatch:
        mask = mask_of([len(caption) for caption in captions])
        target = torch.full(mask.shape, self.spec.padding)
        target[mask] = torch.tensor([token for caption in captions for token in caption])
        return ImageBatch(image, self.spec.grid, target=target, target_mask=mask, picture=torch.tensor(picture))

    def made(self, tensors: dict[str, Tensor], like: ImageBatch) -> ImageBatch:
        kept, tensors["picture"] = tensors["picture"].unique(return_inverse=True)
        return ImageBatch(like.image[kept], self.spec.grid, **tensors, begin=self.spec.begin)

    def without_targets(self, batch: ImageBatch) -> ImageBatch:
        return ImageBatch(batch.image, batch.grid, picture=batch.picture)


FAMILY = Pictures()
