"""Tokens to vectors, and distributions over tokens to their mean vector."""

from __future__ import annotations

from torch import Tensor, nn


class TokenEmbedding(nn.Embedding):
    """A look-up table that also takes a distribution over the vocabulary, and then gives the mean embedding under it.

    The mean is what training by soft feedback hands to the next step in place of a token.
    """

    def forward(self, tokens: Tensor) -> Tensor:
        """(...) ids or (..., V) probabilities -> (..., E)."""
        return tokens @ self.weight if tokens.is_floating_point() else super().forward(tokens)
