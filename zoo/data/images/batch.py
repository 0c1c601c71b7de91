"""Images with captions: the facts that a network is built from, and batches with boolean masks, True = real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from zoo.data.captions.batch import CaptionBatch, CaptionSpec, Description
from zoo.data.images.truth import boxes_named, is_true
from zoo.data.inputs import Inputs, numbers, pixels


@dataclass(frozen=True)
class ImageSpec(CaptionSpec):
    """Images, or the features of a frozen encoder, and the captions to write."""

    def inputs(self) -> Inputs:
        axes = ("batch", self.channels, self.height, self.width)
        image = numbers(axes) if self.encoded else pixels(axes)
        return Inputs(ImageBatch, {"image": image}, {"grid": self.grid, "begin": self.begin})


class ImageDescription(Description):
    """The facts about an image of a batch besides its pixels: the objects of a generated scene."""

    def judged(self, caption: str) -> bool:
        return is_true(caption, self.facts)

    def places(self, words: Sequence[str]) -> list[tuple[float, ...] | None]:
        """The box of the object that each word names: left, top, right and bottom in shares of the image."""
        return boxes_named(words, self.facts)


@dataclass(frozen=True)
class ImageBatch(CaptionBatch):
    """B captions of at most T tokens to write about I images, with attention to the S cells of an image."""

    without_targets: ClassVar[str] = (
        "give captions as encoder(images, captions), or let a search of zoo.decoding write them"
    )
    given: ClassVar[tuple[str, ...]] = ("image",)

    image: Tensor
    """(I, C, H, W) pixels, uint8 of RGB, or features of an encoder, whose H by W are the cells of the grid."""
    grid: tuple[int, int]
    """Rows and columns of the S cells that can be attended, in row-major order."""

    @property
    def pixels(self) -> Tensor:
        return self.image

    @property
    def memory_mask(self) -> Tensor:
        """(B, S) True: every cell can be attended."""
        return torch.ones(len(self), self.grid[0] * self.grid[1], dtype=torch.bool, device=self.picture.device)
