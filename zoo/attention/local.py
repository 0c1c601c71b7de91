"""Local attention: a softmax inside a window of the source.

Luong, Pham, Manning 2015, section 3.2. Positions are numbered from 0; the window around p is the positions s with
|s - p| <= D, cut at the sentence. The scores come from any `Score`.

Notation: B sentences, L queries of each, S positions, n width of a query, D the window's reach to either side.
"""

import torch
from torch import Tensor, nn

from zoo.arguments import Count
from zoo.attention.softmax import masked_softmax
from zoo.precision import precise_dtype


class MonotonicWindow(nn.Module):
    """local-m: the target word at position t looks around p_t = t, or around the last real word of a shorter source.

    Raises ValueError for a `reach` below 1.
    """

    def __init__(self, reach: Count = 10) -> None:
        super().__init__()
        self.reach = _at_least_one(reach)

    def forward(self, scores: Tensor, mask: Tensor, positions: Tensor) -> Tensor:
        """The weights, of the shape of `scores`; the rows of an empty sentence are zero.

        scores (B, L, S) with positions (L,) or (B, L); for a single query scores (B, S) with positions () or (B,).
        mask (B, S), True at the real words, which come first. Positions are whole numbers from 0.
        """
        last = (mask.sum(-1) - 1).clamp_min(0)  # (B,)
        centre = torch.minimum(positions, last.view(-1, *[1] * (scores.dim() - 2)))  # (B, L) or (B,)
        return masked_softmax(scores, _window(scores, mask, centre, self.reach))


class PredictedWindow(nn.Module):
    """local-p: the query predicts the centre, p_t = length * sigmoid(v_p^T tanh(W_p h_t))    (9)

    a_t(s) = softmax inside the window around floor(p_t) * exp(-(s - p_t)^2 / (2 sigma^2)), sigma = D / 2    (10)

    The weights sum to less than 1: they are not renormalised. W_p (n, n) = `projection.weight` and v_p (n) learn
    through the Gaussian alone; the choice of the window has no gradient. Raises ValueError for a `reach` below 1.
    """

    def __init__(self, query_dim: Count, reach: Count = 10) -> None:
        super().__init__()
        self.reach = _at_least_one(reach)
        self.projection = nn.Linear(query_dim, query_dim, bias=False)
        self.v = nn.Parameter(torch.empty(query_dim).uniform_(-1, 1) / query_dim**0.5)

    def centre(self, query: Tensor, mask: Tensor) -> Tensor:
        """p_t of queries (B, L, n) or (B, n): (B, L) or (B,), in words from the start of the sentence.

        In float32 at least: half precision has no fractions beyond position 1024.
        """
        share = (self.projection(query).tanh() @ self.v).to(precise_dtype(query.dtype)).sigmoid()
        return share * mask.sum(-1).view(-1, *[1] * (share.dim() - 1))

    def forward(self, scores: Tensor, mask: Tensor, query: Tensor) -> Tensor:
        """The weights, of the shape of `scores`; the rows of an empty sentence are zero.

        scores (B, L, S) with queries (B, L, n), or for a single query scores (B, S) with query (B, n).
        mask (B, S), True at the real words, which come first.
        """
        p = self.centre(query, mask)
        inside = masked_softmax(scores, _window(scores, mask, p.detach().floor(), self.reach))
        position = torch.arange(scores.shape[-1], device=scores.device)
        sigma = self.reach / 2
        bell = (-((position - p.unsqueeze(-1)) ** 2) / (2 * sigma**2)).exp()  # (B, L, S)
        return inside * bell.to(inside.dtype)


def _window(scores: Tensor, mask: Tensor, centre: Tensor, reach: int) -> Tensor:
    """True at the real words s with |s - centre| <= reach: the shape of `scores`."""
    position = torch.arange(scores.shape[-1], device=scores.device)
    per_query = mask.view(mask.shape[0], *[1] * (scores.dim() - 2), mask.shape[-1])
    return ((position - centre.unsqueeze(-1)).abs() <= reach) & per_query


def _at_least_one(reach: int) -> int:
    if reach < 1:
        raise ValueError(f"the window must reach at least 1 word to either side; got reach={reach}")
    return reach
