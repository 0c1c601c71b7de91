"""Pooling of the packed positions of each row into one vector: by attention, by the mean or by the maximum.

Notation: `packing` packs a grid (..., T) with N real positions, or gives the positions of tree nodes in one; D width.
"""

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from zoo.attention import ContextScore
from zoo.errors import one_of
from zoo.layers.packing import Cells

Pooling = Literal["attention", "mean", "max"]


class AttentionPooling(nn.Module):
    """sum_t a_t h_t with a = softmax of a learned score over the row's real positions (Yang et al. 2016, equations
    5-7)."""

    def __init__(self, dim: int, attention_dim: int) -> None:
        super().__init__()
        self.score = ContextScore(dim, attention_dim)

    def forward(self, hidden: Tensor, packing: Cells) -> tuple[Tensor, Tensor]:
        """(N, D) -> row vectors (..., D), zero for an empty row, and weights (..., T)."""
        weights = packing.softmax(self.score(hidden))  # (N,)
        return packing.sum(weights[:, None] * hidden), packing.unpack(weights)


class MeanPooling(nn.Module):
    """The mean over the row's real positions: attention with equal weights, which it returns."""

    def forward(self, hidden: Tensor, packing: Cells) -> tuple[Tensor, Tensor]:
        """(N, D) -> row vectors (..., D), zero for an empty row, and weights (..., T)."""
        lengths = packing.sum(torch.ones_like(packing.row))  # (...), whole numbers: bfloat16 cannot count beyond 256
        weights = lengths.to(hidden.dtype).reciprocal().flatten().index_select(0, packing.row)  # (N,)
        return packing.sum(weights[:, None] * hidden), packing.unpack(weights)


class MaxPooling(nn.Module):
    """The maximum of each component over the row's real positions. There are no weights."""

    def forward(self, hidden: Tensor, packing: Cells) -> tuple[Tensor, None]:
        """(N, D) -> row vectors (..., D), zero for an empty row."""
        return packing.max(hidden), None


def pooling(name: Pooling, dim: int, attention_dim: int) -> AttentionPooling | MeanPooling | MaxPooling:
    """The pooling called `name`. Raises ValueError for another name."""
    if one_of("pooling", name, get_args(Pooling)) == "attention":
        return AttentionPooling(dim, attention_dim)
    if name == "mean":
        return MeanPooling()
    return MaxPooling()


def maxout(x: Tensor, pieces: int = 2) -> Tensor:
    """(..., pieces * L) -> (..., L): entry l is the maximum of entries pieces * l, ..., pieces * l + pieces - 1
    (Goodfellow et al. 2013)."""
    return x.unflatten(-1, (-1, pieces)).amax(-1)
