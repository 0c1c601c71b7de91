"""How well a query fits a key: one class and one equation each.

A `Score` works in two parts. `prepare` gives the keys' part, computed once per memory; `forward` compares queries with
it, many at once or one per row. Scores are raw: the mask and the softmax come after (`zoo.attention.masked_softmax`).

Sources: Bahdanau et al. 2015 (appendix A.1.2); Luong et al. 2015 (section 3.1); Vaswani et al. 2017 (3.2.1); Graves et
al. 2014 (equation 6, cosine); Yang et al. 2016 (equations 5-6).

Notation: L queries, S keys, D_q and D_k their widths, A width of the prepared keys. `...` stands for any leading
dimensions, such as B sentences or B sentences and H heads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.errors import one_of

SCORES = ("dot", "scaled_dot", "general", "additive", "concat", "location", "cosine")


class Score(nn.Module, ABC):
    """The protocol: `forward(query, prepare(keys))`.

    A subclass gives `many`, and `prepare` where its keys are not used as they are.
    """

    def prepare(self, keys: Tensor) -> Tensor:
        """The keys' part of the score: (..., S, D_k) -> (..., S, A)."""
        return keys

    def forward(self, query: Tensor, prepared: Tensor) -> Tensor:
        """Queries (..., L, D_q) and prepared keys (..., S, A) -> (..., L, S); one query a row, (..., D_q) -> (..., S).

        A query with one dimension fewer than the prepared keys is the single one of its row.
        """
        if query.dim() == prepared.dim() - 1:
            return self.many(query.unsqueeze(-2), prepared).squeeze(-2)
        return self.many(query, prepared)

    @abstractmethod
    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """(..., L, D_q), (..., S, A) -> (..., L, S)."""


class DotScore(Score):
    """q . k

    Raises ValueError if the widths differ.
    """

    def __init__(self, query_dim: int, key_dim: int) -> None:
        super().__init__()
        _same_width("dot", query_dim, key_dim)

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return queries @ prepared.transpose(-2, -1)


class ScaledDotScore(Score):
    """scale q . k, where `scale` is 1 / sqrt(query_dim) unless given. With heads, `query_dim` is the width of one head.

    Raises ValueError if the widths differ.
    """

    def __init__(self, query_dim: int, key_dim: int, scale: float | None = None) -> None:
        super().__init__()
        _same_width("scaled_dot", query_dim, key_dim)
        self.scale = query_dim**-0.5 if scale is None else scale

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return (queries * self.scale) @ prepared.transpose(-2, -1)


class GeneralScore(Score):
    """q^T W k, with W (D_q, D_k) = `projection.weight`. The keys' part is W k."""

    def __init__(self, query_dim: int, key_dim: int) -> None:
        super().__init__()
        self.projection = nn.Linear(key_dim, query_dim, bias=False)

    def prepare(self, keys: Tensor) -> Tensor:
        return self.projection(keys)

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return queries @ prepared.transpose(-2, -1)


class AdditiveScore(Score):
    """v^T tanh(W q + U k): W (A, D_q) = `query_projection.weight`, U (A, D_k) = `key_projection.weight`, v (A).

    Bahdanau et al. 2015; no biases. Holds (..., L, S, A) numbers at once.
    """

    def __init__(self, query_dim: int, key_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.query_projection = nn.Linear(query_dim, attention_dim, bias=False)
        self.key_projection = nn.Linear(key_dim, attention_dim, bias=False)
        self.v = _vector(attention_dim)

    def prepare(self, keys: Tensor) -> Tensor:
        return self.key_projection(keys)

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return _tanh_of_sum(self.query_projection(queries), prepared) @ self.v


class ConcatScore(Score):
    """v^T tanh(W [q; k]), with W (A, D_q + D_k) = `weight`, v (A).

    Luong et al. 2015. The numbers of the additive score with W = [W_q W_k], and computed like it.
    """

    def __init__(self, query_dim: int, key_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.query_dim = query_dim
        self.weight = nn.Parameter(nn.Linear(query_dim + key_dim, attention_dim, bias=False).weight.detach())
        self.v = _vector(attention_dim)

    def prepare(self, keys: Tensor) -> Tensor:
        return F.linear(keys, self.weight[:, self.query_dim :])

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return _tanh_of_sum(F.linear(queries, self.weight[:, : self.query_dim]), prepared) @ self.v


class LocationScore(Score):
    """(W q)_s at position s, with W (longest, D_q) = `projection.weight`: the words themselves do not count.

    Luong et al. 2015. Fewer than `longest` keys take the first rows of W. Positions from `longest` on score -inf, so
    that a softmax gives them exactly 0, with zero gradient.
    """

    def __init__(self, query_dim: int, longest: int) -> None:
        super().__init__()
        if longest < 1:
            raise ValueError(f"longest is the number of positions that can be attended, at least 1; got {longest}")
        self.longest = longest
        self.projection = nn.Linear(query_dim, longest, bias=False)

    def prepare(self, keys: Tensor) -> Tensor:
        """(..., S, D_k) -> (..., S, 0): all that counts is how many there are."""
        return keys[..., :0]

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        steps = prepared.shape[-2]
        scores = F.linear(queries, self.projection.weight[:steps])
        return F.pad(scores, (0, max(steps - self.longest, 0)), value=-torch.inf)


class CosineScore(Score):
    """q . k / (|q| |k| temperature). A vector shorter than SHORTEST has no direction: it scores 0, with zero gradient.

    Raises ValueError if the widths differ or the temperature is not positive.
    """

    SHORTEST = 1e-6

    def __init__(self, query_dim: int, key_dim: int, temperature: float = 1.0) -> None:
        super().__init__()
        _same_width("cosine", query_dim, key_dim)
        if temperature <= 0:
            raise ValueError(f"the temperature of the cosine score is positive; got {temperature}")
        self.temperature = temperature

    def prepare(self, keys: Tensor) -> Tensor:
        return self._direction(keys)

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return self._direction(queries) / self.temperature @ prepared.transpose(-2, -1)

    def _direction(self, x: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return (x / length.clamp_min(self.SHORTEST)).masked_fill(length < self.SHORTEST, 0.0)


def score(
    name: str, query_dim: int, key_dim: int, attention_dim: int | None = None, longest: int | None = None
) -> Score:
    """The score called `name`, one of SCORES.

    `attention_dim` is the inner width of additive and concat, `longest` the number of positions of location; the others
    do without. Raises ValueError for another name, for one of these missing, or for widths that do not fit the score.
    """
    if one_of("score", name, SCORES) == "dot":
        return DotScore(query_dim, key_dim)
    if name == "scaled_dot":
        return ScaledDotScore(query_dim, key_dim)
    if name == "general":
        return GeneralScore(query_dim, key_dim)
    if name == "cosine":
        return CosineScore(query_dim, key_dim)
    if name == "additive":
        return AdditiveScore(query_dim, key_dim, _given(name, "attention_dim", attention_dim))
    if name == "concat":
        return ConcatScore(query_dim, key_dim, _given(name, "attention_dim", attention_dim))
    return LocationScore(query_dim, _given(name, "longest", longest))


class ContextScore(nn.Module):
    """Additive score against one learned query, the context vector: u = tanh(W h + b), score = u . u_w.

    Yang et al. 2016, equations 5-6 and 8-9. The query is a parameter, so a key alone decides its score.
    """

    def __init__(self, key_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.projection = nn.Linear(key_dim, attention_dim)
        self.context = _vector(attention_dim)

    def forward(self, keys: Tensor) -> Tensor:
        """(..., D_k) -> (...)."""
        return self.projection(keys).tanh() @ self.context


def _vector(width: int) -> nn.Parameter:
    """What nn.Linear(width, 1) starts from."""
    return nn.Parameter(torch.empty(width).uniform_(-1, 1) / width**0.5)


def _tanh_of_sum(queries: Tensor, keys: Tensor) -> Tensor:
    """tanh(q + k) of all pairs: (..., L, A), (..., S, A) -> (..., L, S, A)."""
    return (queries.unsqueeze(-2) + keys.unsqueeze(-3)).tanh_()  # in place: the sum is the largest tensor there is


def _same_width(name: str, query_dim: int, key_dim: int) -> None:
    if query_dim != key_dim:
        raise ValueError(
            f"the {name} score needs queries and keys of one width; got {query_dim} and {key_dim}. "
            "general, additive and concat take different widths"
        )


def _given(name: str, argument: str, value: int | None) -> int:
    if value is None:
        raise ValueError(f"the {name} score needs {argument}")
    return value
