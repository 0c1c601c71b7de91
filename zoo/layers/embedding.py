"""Tokens and their positions to vectors.

Notation: E width of a token's vector, D of a position's, V vocabulary.
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from zoo.precision import precise_dtype

Positions = Literal["sinusoidal", "learned"]


class TokenEmbedding(nn.Embedding):
    """A look-up table that also takes a distribution over the vocabulary, and then gives the mean embedding under it.

    The mean is what training by soft feedback hands to the next step in place of a token. The row of `padding_idx` is
    zero and gets no gradient from either.
    """

    def forward(self, tokens: Tensor) -> Tensor:
        """(...) ids or (..., V) probabilities -> (..., E)."""
        if not tokens.is_floating_point():
            return super().forward(tokens)
        if self.padding_idx is not None:
            ids = torch.arange(self.num_embeddings, device=tokens.device)
            tokens = tokens.masked_fill(ids == self.padding_idx, 0.0)
        return tokens.to(self.weight.dtype) @ self.weight


class SinusoidalPositions(nn.Module):
    """PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos of the same (Vaswani et al. 2017, section 3.5).

    There is no table and no longest sequence: the numbers are computed for the given positions.
    Raises ValueError for an odd D.
    """

    one: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        if dim % 2:
            raise ValueError(f"sines and cosines come in pairs: the width must be even, got {dim}")
        self.dim = dim
        self.register_buffer("one", torch.ones(()), persistent=False)  # goes to the dtype that the vectors shall have

    def forward(self, positions: Tensor) -> Tensor:
        """(...) integers -> (..., D)."""
        dtype = precise_dtype(self.one.dtype)  # in half precision 257 would be 256
        exponent = torch.arange(0, self.dim, 2, device=positions.device, dtype=dtype) / self.dim
        angle = positions[..., None] * torch.exp(-math.log(10_000) * exponent)
        return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).to(self.one.dtype)


class LearnedPositions(nn.Embedding):
    """A table of `count` learned vectors. Later positions use its last row, so that any length works."""

    def __init__(self, count: int, dim: int) -> None:
        super().__init__(count, dim)

    def forward(self, positions: Tensor) -> Tensor:
        """(...) integers -> (..., D)."""
        return super().forward(positions.clamp(max=self.num_embeddings - 1))


def positions_called(name: Positions, longest: int, dim: int) -> nn.Module:
    """The positions called `name`. A learned table has `longest` rows."""
    return LearnedPositions(longest, dim) if name == "learned" else SinusoidalPositions(dim)
