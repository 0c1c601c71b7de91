"""From scores to a context: masked softmax and the weighted mean of the values.

Notation: B sentences, L queries of each, S positions, D_q width of a query, D_k of a key, A of a prepared key, D_v of a
value.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from zoo.attention.scores import Score
from zoo.attention.softmax import masked_softmax


class Memory(NamedTuple):
    """The keys, values and mask of a source, computed once and reused at every decoding step."""

    keys: Tensor
    """(B, S, A) the result of `Score.prepare`."""
    values: Tensor
    """(B, S, D_v)."""
    mask: Tensor
    """(B, S) True at real positions."""


class Attention(nn.Module):
    """a = softmax over the real positions of score(q, k), context = sum_s a_s value_s.

    The hypotheses of a sentence are its queries: K of them share the memory of the sentence, which is never copied.
    """

    def __init__(self, score: Score) -> None:
        super().__init__()
        self.score = score

    def prepare(self, keys: Tensor, mask: Tensor, values: Tensor | None = None) -> Memory:
        """The memory made from keys (B, S, D_k) and `mask` (B, S). Without `values` (B, S, D_v) the keys are used."""
        return Memory(self.score.prepare(keys), keys if values is None else values, mask)

    def forward(self, query: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """Queries (B, L, D_q) -> contexts (B, L, D_v), weights (B, L, S); one query (B, D_q) -> (B, D_v), (B, S).

        Also with heads: (B, H, L, D_q) and a memory of (B, H, S, ...) with the mask (B, S). The rows of a sentence
        without real positions are zero.
        """
        scores = self.score(query, memory.keys)
        weights = masked_softmax(scores, per_query(memory.mask, scores))
        return weighted_mean(weights, memory.values), weights


def weighted_mean(weights: Tensor, values: Tensor) -> Tensor:
    """(..., L, S), (..., S, D) -> (..., L, D); weights of a single query, (..., S) -> (..., D)."""
    if weights.dim() == values.dim() - 1:
        return (weights.unsqueeze(-2) @ values).squeeze(-2)
    return weights @ values


def per_query(mask: Tensor, scores: Tensor) -> Tensor:
    """(B, S) -> (B, 1, ..., 1, S), with the dimensions of `scores` (B, ..., S)."""
    return mask.view(len(mask), *[1] * (scores.dim() - 2), mask.shape[-1])
