"""Hard attention: the context is one value, at a position drawn from the weights.

Xu et al. 2015, section 4.1. The draw has no gradient: the weights learn from a reward by REINFORCE, whose term for one
draw is -reward * log_prob.

Notation: B sentences, L queries of each, S positions, D_v width of a value.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from zoo.attention.attend import Memory, ScoredAttention, per_query, weighted_mean
from zoo.attention.draw import draw
from zoo.attention.softmax import masked_softmax


class Glimpse(NamedTuple):
    """What one look gives. A single query has no L."""

    context: Tensor
    """(B, L, D_v) the value at the chosen position."""
    chosen: Tensor
    """(B, L, S) one-hot, without gradient; zero in a sentence without real positions."""
    log_prob: Tensor
    """(B, L) log-probability of the choice; 0 in a sentence without real positions."""
    weights: Tensor
    """(B, L, S) the distribution that the choice is made from."""


class HardAttention(ScoredAttention):
    """s ~ Multinoulli(softmax(score(q, k))), context = value_s. In evaluation s is the most probable position.

    Draws come from torch's global random state.
    """

    def forward(self, query: Tensor, memory: Memory) -> Glimpse:
        """Queries (B, L, D_q), or one query a sentence (B, D_q)."""
        scores = self.score(query, memory.keys)
        mask = per_query(memory.mask, scores)
        weights = masked_softmax(scores, mask)
        position = (draw(weights) if self.training else weights.argmax(-1)).unsqueeze(-1)  # (B, L, 1)
        real = weights.detach().gather(-1, position) > 0  # nothing can be chosen in an empty row
        chosen = torch.zeros_like(weights).scatter(-1, position, real.to(weights.dtype))
        log_probs = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).log_softmax(-1)
        log_prob = log_probs.gather(-1, position).masked_fill(~real, 0.0).squeeze(-1)
        return Glimpse(weighted_mean(chosen, memory.values), chosen, log_prob, weights)
