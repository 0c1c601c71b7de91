"""Tokens to vectors, and distributions over tokens to their mean vector."""

from __future__ import annotations

import torch
from torch import Tensor, nn


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
        return tokens @ self.weight
