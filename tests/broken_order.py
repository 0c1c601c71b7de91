"""Networks without a source that predict tokens or pixels in an order, sound ones and broken ones, and their data."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.models.output import Output


class Texts:
    """Two columns of a stream: (B, T) tokens, each predicted from those before it."""

    def batch(self, seed: int, *, empty: bool = True) -> Any:
        return SimpleNamespace(tokens=torch.arange(18).view(2, 9) % 5)

    def changed(self, batch: Any, place: int) -> tuple[Any, Tensor]:
        tokens = batch.tokens.clone()
        tokens[:, place] = (tokens[:, place] + 1) % 5
        return SimpleNamespace(tokens=tokens), torch.ones(2, dtype=torch.bool)

    def scores(self, output: Output, batch: Any) -> Tensor:
        return output.logits


class Stream(nn.Module):
    """A mean of the tokens so far."""

    family: ClassVar[Any] = Texts()

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.vocabulary = nn.Embedding(6, 4), nn.Linear(4, 5)

    def read(self, tokens: Tensor) -> Tensor:
        """(B, T) the token that is read before each prediction; 5 is begin."""
        return F.pad(tokens, (1, -1), value=5)

    def forward(self, batch: Any) -> Output:
        return Output(self.vocabulary(self.embedding(self.read(batch.tokens)).cumsum(1)))


class StreamReadsAhead(Stream):
    def read(self, tokens: Tensor) -> Tensor:
        return tokens


class StreamReadsNothing(Stream):
    def read(self, tokens: Tensor) -> Tensor:
        return torch.full_like(tokens, 5)


class Pictures:
    """Binary pictures of 4 x 5 pixels, each predicted from those before it, row by row."""

    def batch(self, seed: int, *, empty: bool = True) -> Any:
        return SimpleNamespace(pixels=(torch.arange(60).view(3, 4, 5) % 7 > 2).double())

    def changed(self, batch: Any, place: int) -> tuple[Any, Tensor]:
        pixels = batch.pixels.flatten(1).clone()
        pixels[:, place] = 1 - pixels[:, place]
        return SimpleNamespace(pixels=pixels.view_as(batch.pixels)), torch.ones(3, dtype=torch.bool)

    def scores(self, output: Output, batch: Any) -> Tensor:
        return output.logits.flatten(1)[..., None]


class Pixels(nn.Module):
    """One masked convolution: a pixel is predicted from the row above it and the pixel to the left."""

    family: ClassVar[Any] = Pictures()
    mask: ClassVar[list[list[int]]] = [[1, 1, 1], [1, 0, 0], [0, 0, 0]]

    def __init__(self) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(1, 1, 3, 3))

    def forward(self, batch: Any) -> Output:
        kernel = self.kernel * torch.tensor(self.mask)
        return Output(F.conv2d(batch.pixels[:, None].to(kernel.dtype), kernel, padding=1)[:, 0])


class PixelsReadThemselves(Pixels):
    mask: ClassVar[list[list[int]]] = [[1, 1, 1], [1, 1, 0], [0, 0, 0]]


class PixelsReadTheRight(Pixels):
    mask: ClassVar[list[list[int]]] = [[1, 1, 1], [1, 0, 1], [0, 0, 0]]
