"""Parts of networks that point at their input: vectors of tokens, scores of all steps at once, logits of tokens.

A token of `zoo.data.points` is padding, begin, end or a pointer, so that n points have 3 + n tokens. A network can
point at S = n + 1 places; the first place is the end.

Notation: B sets, n points of the largest, W coordinates, V = 3 + n tokens, T target positions, N real ones, K
hypotheses, E width of a decoder's input, A of the score, D of a value or a state.
"""

from bisect import bisect_left

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.attention.scores import AdditiveScore
from zoo.attention.softmax import masked_softmax
from zoo.errors import DataError
from zoo.layers.embedding import TokenEmbedding
from zoo.layers.init import start_network_
from zoo.layers.loops.additive import additive_scores
from zoo.layers.loops.attention import TimeSteps
from zoo.layers.packing import Packing

BEGIN, SPECIALS = 1, 3
"""The id of the begin token, and the number of tokens before the pointers: padding, begin and end."""


def token_table(points: Tensor, begin: Tensor) -> Tensor:
    """The vector of each token, (B, V, E), from rows of the points (B, n, E) and of begin (E); padding and end are
    0."""
    specials = F.pad(begin[None], (0, 0, BEGIN, SPECIALS - BEGIN - 1))
    return torch.cat([specials.expand(points.shape[0], -1, -1), points], 1)


def read_tokens(tokens: Tensor, table: Tensor, packing: Packing | None = None) -> Tensor:
    """The rows (B, K, E) of `table` (B, V, E) at the ids `tokens` (B, K); of probabilities (B, K, V) their mean. With a
    `packing` of (B, T) the rows (N, E) at the real positions of the ids (B, T)."""
    if packing is not None:
        return table.flatten(0, 1).index_select(0, packing.row * table.shape[1] + packing.pack(tokens))
    if tokens.is_floating_point():
        return tokens.to(table.dtype) @ table
    return table.gather(1, tokens[:, :, None].expand(-1, -1, table.shape[2]))


class PointReader(nn.Module):
    """The vectors that an LSTM reads for points and tokens. A pointer is the point that it points at, begin is a
    learned vector, and the end and padding are 0.

    A point is embedded, W p + b, or with `embedding_dim` = 0 the LSTM reads its W coordinates. Tokens are looked up
    before they are embedded, as [p, 1, 0] or, begin, [0, 0, 1], which keeps the look-up narrow.
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

    def table(self, points: Tensor) -> Tensor:
        """The table that `tokens` reads, (B, V, W + 2), of points (B, n, W)."""
        rows = F.pad(F.pad(points.to(self.begin.dtype), (0, 1), value=1.0), (0, 1))
        return token_table(rows, F.one_hot(torch.tensor(rows.shape[2] - 1, device=rows.device)).to(rows.dtype))

    def tokens(self, tokens: Tensor, table: Tensor, packing: Packing | None = None) -> Tensor:
        """The vectors (..., E) of tokens, which are given as to `read_tokens`."""
        rows = read_tokens(tokens, table, packing)
        if self.embedding is None:
            matrix, bias = torch.eye(self.width, dtype=rows.dtype, device=rows.device), rows.new_zeros(self.width)
        else:
            matrix, bias = self.embedding.weight, self.embedding.bias
        return F.linear(rows, torch.cat([matrix, torch.stack([bias, self.begin], 1)], 1))


def start_pointing_(network: nn.Module, init_range: float | None, *read_states: nn.Linear) -> None:
    """Start a network by `start_network_`, whose additive scores read states of LSTMs, as `read_states` do."""
    scores = [module for module in network.modules() if isinstance(module, AdditiveScore)]
    maps = [part for score in scores for part in (score.query_projection, score.key_projection)]
    start_network_(network, init_range, *maps, *read_states)


def at_places(points: Tensor, end: Tensor, packing: Packing) -> Tensor:
    """Rows (M, A) of the points packed by `packing` (B, n), and one for the place of the end (A): (B, S, A)."""
    grid = packing.unpack(points)
    return torch.cat([end.to(grid.dtype).expand(grid.shape[0], 1, -1), grid], 1)


def scores_of(score: AdditiveScore, queries: Tensor, keys: Tensor, packing: Packing | None = None) -> Tensor:
    """The scores (B, K, S) of queries (B, K, D_q) with prepared keys (B, S, A), or with a `packing` of (B, T) those
    (N, S) of packed queries (N, D_q). Equal to `score`, but faster on the CPU and with less memory: the (N, S, A)
    numbers that are summed are not stored."""
    projected = score.query_projection(queries)
    if packing is None:
        return additive_scores(projected, keys, score.v)
    steps = TimeSteps.of(packing)
    grid = steps.grid(projected)  # (R, T, A), longest first
    rising = packing.batch_sizes[::-1]
    lengths = [len(rising) - bisect_left(rising, rank + 1) for rank in range(len(grid))]
    scores = additive_scores(grid, keys.index_select(0, packing.order), score.v, lengths)
    return scores.flatten(0, 1).index_select(0, steps.slot)


def glimpse_of(
    score: AdditiveScore, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor, packing: Packing | None = None
) -> Tensor:
    """For each query of `scores_of` the mean (..., D) of the values (B, S, D) under the softmax of its scores over the
    places where `mask` (B, S) is True; 0 where there are none."""
    scores = scores_of(score, queries, keys, packing)
    if packing is None:
        return masked_softmax(scores, mask[:, None]).to(values.dtype) @ values
    weights = masked_softmax(scores, mask.index_select(0, packing.row)).to(values.dtype)
    return packing.pack(packing.unpack(weights) @ values)


def token_logits(scores: Tensor, mask: Tensor) -> Tensor:
    """Scores (..., S) of places and `mask` (..., S), True at those that exist -> (..., V) of tokens, -inf at padding,
    at begin and at places that do not exist."""
    return F.pad(scores.masked_fill(~mask, -torch.inf), (SPECIALS - 1, 0), value=-torch.inf)


def possible_tokens(mask: Tensor) -> Tensor:
    """`mask` (B, S), True at places that exist -> (B, V), True at the tokens that can be written."""
    return F.pad(mask, (SPECIALS - 1, 0))


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
        return token_logits(self(states), self._named(mask))

    def possible(self, mask: Tensor) -> Tensor:
        """`mask` (B, S), True at places that exist -> (B, V), True at the tokens that can be written."""
        return possible_tokens(self._named(mask))

    def _named(self, mask: Tensor) -> Tensor:
        return F.pad(mask, (0, self.out_features - mask.shape[-1]))  # a negative pad cuts

    def check(self, mask: Tensor) -> None:
        """Raises DataError where a set with `mask` (B, S), True at places that exist, is too large."""
        longest = self.out_features - 1
        if mask.shape[1] > 1 + longest and mask[:, 1 + longest :].any():
            raise DataError(
                f"a set of {int(mask.sum(1).max()) - 1} points, but this network has names for the first {longest} "
                "positions alone, the largest set that it was built for; test it with sets of at most "
                f"{longest} points, train it with larger ones, or take model=pointer_net, which points at any number"
            )
