"""A fixed vocabulary of positions, for networks that name the places of a set instead of pointing at them.

Notation: B sets, S places of the largest in the batch (the first place is the end), K hypotheses, V = 3 +
`longest` tokens, E embedding, D width of a state.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from zoo.errors import DataError
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.pointing import SPECIALS, token_logits


class PositionEmbedding(TokenEmbedding):
    """A row for each token of sets of at most `longest` points."""

    def __init__(self, longest: int, embedding_dim: int, *, padding: int) -> None:
        super().__init__(SPECIALS + longest, embedding_dim, padding_idx=padding)

    def forward(self, tokens: Tensor) -> Tensor:
        """(...) ids, or (..., V') probabilities of the first V' tokens, whose mean is read -> (..., E)."""
        if tokens.is_floating_point():
            tokens = F.pad(tokens, (0, self.num_embeddings - tokens.shape[-1]))
        return super().forward(tokens)


class PositionVocabulary(nn.Linear):
    """Scores of the end and of each of `longest` positions, one row of weights for each.

    Places that a set does not have are masked. With sets of one size, as in the paper, this changes nothing.
    """

    def __init__(self, width: int, longest: int) -> None:
        super().__init__(width, 1 + longest)

    def logits(self, states: Tensor, mask: Tensor) -> Tensor:
        """States (..., D) and `mask` (..., S), True at places that exist -> (..., V), -inf at all other tokens."""
        return token_logits(self(states), F.pad(mask, (0, self.out_features - mask.shape[-1])))  # a negative pad cuts

    def check(self, mask: Tensor) -> None:
        """Raises DataError where a set with `mask` (B, S), True at places that exist, is too large."""
        longest = self.out_features - 1
        if mask.shape[1] > 1 + longest and mask[:, 1 + longest :].any():
            raise DataError(
                f"a set of {int(mask.sum(1).max()) - 1} points, but this network has names for the first {longest} "
                "positions alone, the largest set that it was built for; test it with sets of at most "
                f"{longest} points, train it with larger ones, or take model=pointer_net, which points at any number"
            )
