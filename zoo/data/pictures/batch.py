"""Pictures: the facts that a network is built from, and batches of pictures of one size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import torch
from annotated_types import Ge, Le
from numpy.typing import NDArray
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Batch, Spec, derived
from zoo.data.inputs import Given, Inputs, ids

Levels = Annotated[int, Ge(2), Le(256)]


@dataclass(frozen=True)
class PictureSpec(Spec):
    """Pictures of C channels, H rows and W columns. Each value is one of L levels."""

    channels: Count
    """C: 1 for grey, 3 for red, green and blue."""
    height: Count
    """H."""
    width: Count
    """W."""
    levels: Levels = 256
    """L: a value is a number from 0 to L - 1."""
    classes: tuple[str, ...] = ()
    """The names of the classes; empty where pictures have none."""
    factors: Natural = 0
    """F, the numbers that describe a picture; 0 where there are none."""
    binarised: str = ""
    """How grey pictures became black and white, `fixed` or `redrawn`, since likelihoods of the two cannot be compared.
    Empty: they were not."""

    @property
    def dimensions(self) -> int:
        """The number of values of a picture, C H W."""
        return self.channels * self.height * self.width

    def inputs(self) -> Inputs:
        tensors = {"image": Given(("batch", self.channels, self.height, self.width), torch.uint8, below=self.levels)}
        if self.classes:
            tensors["label"] = ids(("batch",), len(self.classes))
        if self.factors:
            tensors["factors"] = Given(("batch", self.factors), torch.float32)
        return Inputs(PictureBatch, tensors)


@dataclass(frozen=True)
class PictureBatch(Batch):
    """B pictures of one size."""

    unit: ClassVar[str] = "pictures"

    image: Tensor
    """(B, C, H, W) uint8 levels, from 0 to L - 1."""
    label: Tensor | None = None
    """(B,) the number of each class; None where pictures have none."""
    factors: Tensor | None = None
    """(B, F) numbers that describe each picture, such as its slant; None where there are none."""
    known: Tensor | None = None
    """(B,) the rows of each picture, from the top, that are given where the rest is to be drawn; None in training."""
    noise: Tensor | None = None
    """(B, Z) of a standard normal distribution, from which a network generates a picture; None where it is not drawn
    yet. A network uses as many columns as it needs."""
    index: Tensor = derived(lambda batch: torch.arange(batch.image.shape[0], device=batch.image.device), sliced=True)
    """(B,) number of each picture in its split."""

    def __len__(self) -> int:
        return len(self.image)


def scaled(image: Tensor, levels: int, like: Tensor) -> Tensor:
    """Levels 0 to L - 1 of any shape as numbers from -1 to 1, in the type of `like`."""
    return image.to(like.dtype) * (2 / (levels - 1)) - 1


def to_levels(pictures: Tensor, levels: int) -> Tensor:
    """Numbers from -1 to 1 of any shape as the nearest levels, uint8: the inverse of `scaled`."""
    return ((pictures + 1) * ((levels - 1) / 2)).round().clamp(0, levels - 1).to(torch.uint8)


def by_level(scores: Tensor, colours: int) -> Tensor:
    """(B, C L, ...), all levels of the first colour first -> (B, L, C, ...)."""
    return scores.unflatten(1, (colours, -1)).transpose(1, 2)


def as_bytes(image: Tensor, levels: int) -> NDArray[np.uint8]:
    """(B, H, W, C) bytes of levels (B, C, H, W), in which the highest level is 255."""
    values = image.permute(0, 2, 3, 1).cpu().numpy().astype(np.float32)
    return np.rint(values * (255 / (levels - 1))).astype(np.uint8)
