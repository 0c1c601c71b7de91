"""Images with captions: the facts that a network is built from, and batches with boolean masks, True = real."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Spec, WritingBatch, derived
from zoo.data.inputs import Inputs, numbers, pixels


@dataclass(frozen=True)
class ImageSpec(Spec):
    """Images, or the features of a frozen encoder, and the captions to write."""

    limits = ("longest_target",)

    channels: Count
    """C of an image in a batch: 3 for pixels, else the width of the features."""
    height: Count
    """H of an image in a batch."""
    width: Count
    """W of an image in a batch."""
    target_size: Count
    """Rows of the word embedding and scores per target position, with the special tokens."""
    longest_target: Natural
    """Tokens of the longest caption, with its end."""
    grid: tuple[int, int] = (14, 14)
    """Rows and columns of cells that can be attended. Cell (i, j) is centred at ((i + 1/2) / rows, (j + 1/2) / columns)
    of the image, for any encoder."""
    encoded: bool = False
    """Whether a batch holds features instead of pixels: C numbers for each of H = rows by W = columns cells."""
    padding: Natural = 0
    unknown: Natural = 1
    begin: Natural = 2
    """The input of a decoder before the first word; never predicted."""
    end: Natural = 3
    """The last token of every caption."""

    def inputs(self) -> Inputs:
        axes = ("batch", self.channels, self.height, self.width)
        image = numbers(axes) if self.encoded else pixels(axes)
        return Inputs(ImageBatch, {"image": image}, {"grid": self.grid, "begin": self.begin})

    @property
    def cells(self) -> int:
        """S, the number of cells of the grid."""
        return self.grid[0] * self.grid[1]


@dataclass(frozen=True)
class ImageDescription:
    """The facts about an image of a batch besides its pixels, for metrics, tables and pictures."""

    name: str
    captions: tuple[str, ...] = ()
    """All captions, as written in their file."""
    facts: Any = None
    file: str | None = None
    """Path to the pixels, if a batch has features instead of pixels and the image is a file."""


@dataclass(frozen=True)
class ImageBatch(WritingBatch):
    """B captions of at most T tokens to write about I images.

    A batch holds each image once, for any number of its captions, so that it is loaded and encoded once. Every caption
    ends with the end token and has no begin token.
    """

    without_targets: ClassVar[str] = (
        "give captions as encoder(images, captions), or let a search of zoo.decoding write them"
    )

    image: Tensor
    """(I, C, H, W) pixels, uint8 of RGB, or features of an encoder, whose H by W are the cells of the grid."""
    grid: tuple[int, int]
    """Rows and columns of the S cells that can be attended, in row-major order."""
    _: KW_ONLY
    picture: Tensor = derived(lambda batch: torch.arange(batch.image.shape[0], device=batch.image.device), sliced=True)
    """(B,) the row of `image` of each caption; by default each image has one."""
    index: Tensor = derived(lambda batch: batch.picture, sliced=True)
    """(B,) number of each caption's image in its split."""
    alignment: Tensor | None = None
    """(B, T, S) True at the cells of the box of the object that a word names, half a cell wider; only for evaluation
    and generated scenes."""
    about: tuple[ImageDescription, ...] | None = None
    """The description of each of the I images, only for evaluation."""

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
        """(B,) 1: the length of a caption does not follow from the size of an image."""
        return torch.ones_like(self.picture)

    def each_image(self) -> ImageBatch:
        """The images without targets, for a search that writes one caption of each: B = I."""
        first = torch.full((len(self.image),), len(self), device=self.picture.device)
        rows = torch.arange(len(self), device=self.picture.device)
        first = first.scatter_reduce(0, self.picture, rows, "amin")  # an image's first caption
        return ImageBatch(self.image, self.grid, index=self.index[first], about=self.about)

    def __len__(self) -> int:
        return len(self.picture)

    @property
    def shown(self) -> int:
        """I: tables and pictures show each image once."""
        return len(self.image)

    def first(self, count: int) -> ImageBatch:
        """The first `count` images and all their captions, copied to the CPU."""
        rows = (self.picture < count).cpu().nonzero()[:, 0]
        names = ("target", "target_mask", "picture", "index", "alignment")
        parts: dict[str, Any] = {
            name: None if (part := getattr(self, name)) is None else part.cpu()[rows].clone() for name in names
        }
        about = self.about and self.about[:count]
        return ImageBatch(self.image[:count].cpu().clone(), self.grid, **parts, begin=self.begin, about=about)
