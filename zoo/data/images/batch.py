"""What a network reads of images with captions: named tensors with boolean masks, True = real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from zoo.data.batch import WritingBatch


@dataclass(frozen=True)
class ImageBatch(WritingBatch):
    """B captions of at most T tokens, to be written of I images, any number of each. `ImageBatch.of` builds it.

    An image stands here once, however many of its captions do, so that it is loaded and encoded once. Every caption
    ends in the end token and has no begin token.
    """

    without_targets: ClassVar[str] = (
        "give captions as encoder(images, captions), or let a search of zoo.decoding write them"
    )

    image: Tensor
    """(I, C, H, W) pixels, uint8 of RGB, or features of an encoder, whose H by W are the cells of the grid."""
    picture: Tensor
    """(B,) the row of `image` that each caption is of."""
    index: Tensor
    """(B,) number of each caption's image in its split."""
    grid: tuple[int, int]
    """Rows and columns of the S cells that can be attended, one row of cells after the other."""
    alignment: Tensor | None
    """(B, T, S) True where a cell lies in the box of the object that a word names, half a cell wider; only where the
    data knows it (the scenes), and for evaluation."""
    about: tuple[Any, ...] | None
    """Of each of the I images an `About` (`zoo.data.images.about`): its name, all its captions as they stood in their
    file, what is true of it; only for evaluation."""

    @classmethod
    def of(
        cls,
        image: Tensor,
        grid: tuple[int, int],
        target: Tensor | None = None,
        target_mask: Tensor | None = None,
        *,
        begin: int = 2,
        picture: Tensor | None = None,
        index: Tensor | None = None,
        alignment: Tensor | None = None,
        about: tuple[Any, ...] | None = None,
    ) -> ImageBatch:
        """A batch from images (I, C, H, W) and padded ids (B, T) with their mask. Without `picture` there is one
        caption an image, without `index` the images are the first of their split."""
        picture = torch.arange(len(image), device=image.device) if picture is None else picture
        return cls(
            image=image,
            picture=picture,
            index=picture if index is None else index,
            grid=grid,
            **cls.writing(target, target_mask, begin),
            alignment=alignment,
            about=about,
        )

    @property
    def memory_mask(self) -> Tensor:
        """(B, S) True: every cell can be attended."""
        return torch.ones(len(self), self.grid[0] * self.grid[1], dtype=torch.bool, device=self.picture.device)

    @property
    def content_mask(self) -> Tensor:
        """(B, S) True: every cell holds content."""
        return self.memory_mask

    @property
    def memory_length(self) -> Tensor:
        """(B,) 1: how long a caption is does not follow from the size of an image."""
        return torch.ones_like(self.picture)

    def each_image(self) -> ImageBatch:
        """The same images, each once and without targets, as they are given to a search that writes: B = I."""
        first = torch.full((len(self.image),), len(self), device=self.picture.device)
        rows = torch.arange(len(self), device=self.picture.device)
        first = first.scatter_reduce(0, self.picture, rows, "amin")  # an image's first caption
        return ImageBatch.of(self.image, self.grid, index=self.index[first], about=self.about)

    def __len__(self) -> int:
        return len(self.picture)

    @property
    def shown(self) -> int:
        """I: what is written of an image is shown once."""
        return len(self.image)

    def first(self, count: int) -> ImageBatch:
        """The first `count` images and all their captions, in memory of their own on the CPU."""
        rows = (self.picture < count).cpu().nonzero()[:, 0]

        def part(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.cpu()[rows].clone()

        begin = 2 if self.target_input is None else int(self.target_input[0, 0])
        return ImageBatch.of(
            self.image[:count].cpu().clone(),
            self.grid,
            part(self.target),
            part(self.target_mask),
            begin=begin,
            picture=part(self.picture),
            index=part(self.index),
            alignment=part(self.alignment),
            about=self.about and self.about[:count],
        )
