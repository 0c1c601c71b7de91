"""What networks share that point at their input: what a token reads as, scores of all steps at once, logits of tokens.

A token of `zoo.data.points` is padding, begin, end or a pointer, so that n points have 3 + n; what can be pointed at
are S = n + 1 places, of which the first is that of the end.

Notation: B sets, n points of the largest, W coordinates, V = 3 + n tokens, N packed target positions, E what a decoder
reads, A width of the score.
"""

from __future__ import annotations

from bisect import bisect_left

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.attention.pointing import additive_scores
from zoo.attention.scores import AdditiveScore
from zoo.layers.attention_loop import TimeSteps
from zoo.layers.packing import Packing

SPECIALS = 3
"""Tokens before the pointers: padding, begin and end."""


class PointReader(nn.Module):
    """Points and tokens as what an LSTM reads: a pointer reads as the point that it points at, begin as a learned
    vector, the end and padding as 0.

    A point is embedded, W p + b, or with `embedding_dim` 0 its W coordinates are read as they are.
    """

    def __init__(self, width: int, embedding_dim: int) -> None:
        super().__init__()
        self.width = embedding_dim or width
        self.embedding = nn.Linear(width, embedding_dim) if embedding_dim else None
        self.begin = nn.Parameter(torch.empty(self.width).uniform_(-1, 1))

    def forward(self, points: Tensor) -> Tensor:
        """Points (..., W) -> (..., E)."""
        points = points.to(self.begin.dtype)
        return points if self.embedding is None else self.embedding(points)

    def tokens(self, points: Tensor) -> Tensor:
        """What `read` needs of points (B, n, W) that are 0 at padding: (B, V, W + 2)."""
        points = points.to(self.begin.dtype)
        pointers = F.pad(F.pad(points, (0, 1), value=1.0), (0, 1))  # [p, 1, 0]: their coordinates and the bias
        begin = F.one_hot(torch.tensor([[1]], device=points.device) + points.shape[2], points.shape[2] + 2)
        specials = F.pad(begin.to(points.dtype), (0, 0, 1, 1))  # padding, begin, end
        return torch.cat([specials.expand(len(points), -1, -1), pointers], 1)

    def read(self, tokens: Tensor, of: Tensor) -> Tensor:
        """(B, K) ids, or (B, K, V) probabilities whose mean is read, with `of` (B, V, W + 2) what `tokens` gave:
        (B, K, E)."""
        if tokens.is_floating_point():
            return self.embed(tokens @ of)
        return self.embed(of.gather(1, tokens[:, :, None].expand(-1, -1, of.shape[2])))

    def read_packed(self, tokens: Tensor, of: Tensor, packing: Packing) -> Tensor:
        """The ids `tokens` (B, T) at the real positions of `packing`: (N, E)."""
        at = packing.row * of.shape[1] + packing.pack(tokens)
        return self.embed(of.flatten(0, 1).index_select(0, at))

    def embed(self, rows: Tensor) -> Tensor:
        """Rows (..., W + 2) of what `tokens` gave -> (..., E)."""
        if self.embedding is None:
            matrix, bias = torch.eye(self.width, dtype=rows.dtype, device=rows.device), rows.new_zeros(self.width)
        else:
            matrix, bias = self.embedding.weight, self.embedding.bias
        return F.linear(rows, torch.cat([matrix, torch.stack([bias, self.begin], 1)], 1))


def all_scores(score: AdditiveScore, queries: Tensor, keys: Tensor, packing: Packing) -> Tensor:
    """The scores (N, S) of queries (N, D_q) packed by `packing` (B, T) with prepared keys (B, S, A): what `score` gives
    for each, without the (N, S, A) numbers that it is a sum of."""
    steps = TimeSteps.of(packing)
    grid = steps.grid(score.query_projection(queries))  # (R, T, A), longest first
    rows = list(reversed(packing.batch_sizes))
    lengths = [len(rows) - bisect_left(rows, rank + 1) for rank in range(len(grid))]
    scores = additive_scores(grid, keys.index_select(0, packing.order), score.v, lengths)
    return scores.flatten(0, 1).index_select(0, steps.slot)


def token_logits(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores (..., S) of places and `mask` (..., S), True at those that exist -> (..., V) of tokens, -inf at padding,
    at begin and at places that do not exist."""
    return F.pad(scores.masked_fill(~mask, -torch.inf), (SPECIALS - 1, 0), value=-torch.inf)
