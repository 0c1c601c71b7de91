"""Scores of how well a query fits a key: one class per equation.

A `Score` works in two parts. `prepare` gives the keys' part, computed once per memory; `forward` compares queries with
it, many at once or one per row. Scores are raw: the mask and the softmax come after (`zoo.attention.masked_softmax`).

Sources: Bahdanau et al. 2015 (appendix A.1.2); Luong et al. 2015 (section 3.1); Vaswani et al. 2017 (3.2.1); Graves et
al. 2014 (equation 6, cosine); Yang et al. 2016 (equations 5-6).

Notation: L queries, S keys, D_q and D_k their widths, A width of the prepared keys. `...` stands for any leading
dimensions, such as B sentences or B sentences and H heads.
"""

import inspect
from abc import ABC, abstractmethod
from typing import Annotated, ClassVar, NamedTuple

import torch
from annotated_types import Predicate
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.arguments import Count, Positive
from zoo.dotted import class_at
from zoo.errors import ZooError, one_of

OWN = "the dotted name of a class of your own"


class Form(NamedTuple):
    """A score as the time loops of `zoo.layers.loops.attention` compute it: q . k, or with `v` v . tanh(W q + k)."""

    keys: Tensor  # (B, S, A) k
    matrix: Tensor | None = None
    """(A, D_q) W; if it is None, the query is used without a projection."""
    v: Tensor | None = None
    """(A)."""
    unit: bool = False
    """The query is compared by its direction, q / |q|."""
    longest: int | None = None
    """How many positions, from the first on, can be attended; None for all."""


class Score(nn.Module, ABC):
    """The protocol: `forward(query, prepare(keys))`.

    A subclass defines `many`, and `prepare` if its keys are transformed. A subclass that also defines its `form` can be
    computed by the time loops. Without it a decoder that attends at every step is trained by its `step`, which is
    slower."""

    equal_widths: ClassVar[bool] = False  # Queries and keys have to be of one width

    def __init_subclass__(cls) -> None:
        """Remove the inherited form from a subclass that computes a different score than its parent."""
        super().__init_subclass__()
        own = vars(cls)
        if "form" not in own and any(name in own for name in ("forward", "many", "prepare")):
            cls.form = Score.form  # type: ignore[method-assign]

    def form(self, prepared: Tensor) -> Form | None:
        """The form that a time loop computes from prepared keys (B, S, A); None if it cannot compute this score."""
        return None

    def prepare(self, keys: Tensor) -> Tensor:
        """The keys' part of the score: (..., S, D_k) -> (..., S, A)."""
        return keys

    def forward(self, query: Tensor, prepared: Tensor) -> Tensor:
        """Queries (..., L, D_q) and prepared keys (..., S, A) -> (..., L, S); one query per row, (..., D_q) -> (...,
        S).

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

    equal_widths = True

    def __init__(self, query_dim: Count, key_dim: Count) -> None:
        super().__init__()
        _same_width("dot", query_dim, key_dim)

    def form(self, prepared: Tensor) -> Form | None:
        return Form(prepared)

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return queries @ prepared.transpose(-2, -1)


class ScaledDotScore(Score):
    """scale q . k, where `scale` is 1 / sqrt(query_dim) unless given. With heads, `query_dim` is the width of one head.

    Raises ValueError if the widths differ.
    """

    equal_widths = True

    def __init__(self, query_dim: Count, key_dim: Count, scale: float | None = None) -> None:
        super().__init__()
        _same_width("scaled_dot", query_dim, key_dim)
        self.scale = query_dim**-0.5 if scale is None else scale

    def form(self, prepared: Tensor) -> Form | None:
        return Form(prepared * self.scale)

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return (queries * self.scale) @ prepared.transpose(-2, -1)


class GeneralScore(Score):
    """q^T W k, with W (D_q, D_k) = `projection.weight`. The keys' part is W k."""

    def __init__(self, query_dim: Count, key_dim: Count) -> None:
        super().__init__()
        self.projection = nn.Linear(key_dim, query_dim, bias=False)

    def form(self, prepared: Tensor) -> Form | None:
        return Form(prepared)

    def prepare(self, keys: Tensor) -> Tensor:
        return self.projection(keys)

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return queries @ prepared.transpose(-2, -1)


class AdditiveScore(Score):
    """v^T tanh(W q + U k): W (A, D_q) = `query_projection.weight`, U (A, D_k) = `key_projection.weight`, v (A).

    Bahdanau et al. 2015; no biases. Holds (..., L, S, A) numbers at once.
    """

    def __init__(self, query_dim: Count, key_dim: Count, attention_dim: Count) -> None:
        super().__init__()
        self.query_projection = nn.Linear(query_dim, attention_dim, bias=False)
        self.key_projection = nn.Linear(key_dim, attention_dim, bias=False)
        self.v = _vector(attention_dim)

    def form(self, prepared: Tensor) -> Form | None:
        return Form(prepared, self.query_projection.weight, self.v)

    def prepare(self, keys: Tensor) -> Tensor:
        return self.key_projection(keys)

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return _tanh_of_sum(self.query_projection(queries), prepared) @ self.v


class ConcatScore(Score):
    """v^T tanh(W [q; k]), with W (A, D_q + D_k) = `weight`, v (A).

    Luong et al. 2015. Equals the additive score with W = [W_q W_k], and is computed in the same way.
    """

    def __init__(self, query_dim: Count, key_dim: Count, attention_dim: Count) -> None:
        super().__init__()
        self.query_dim = query_dim
        self.weight = nn.Parameter(nn.Linear(query_dim + key_dim, attention_dim, bias=False).weight.detach())
        self.v = _vector(attention_dim)

    def form(self, prepared: Tensor) -> Form | None:
        return Form(prepared, self.weight[:, : self.query_dim], self.v)

    def prepare(self, keys: Tensor) -> Tensor:
        return F.linear(keys, self.weight[:, self.query_dim :])

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return _tanh_of_sum(F.linear(queries, self.weight[:, : self.query_dim]), prepared) @ self.v


class LocationScore(Score):
    """(W q)_s at position s, with W (longest, D_q) = `projection.weight`: the content of the keys is not used.

    Luong et al. 2015. Fewer than `longest` keys use the first rows of W. Positions from `longest` on score -inf, so
    that a softmax gives them exactly 0, with zero gradient.
    """

    def __init__(self, query_dim: Count, longest: Count) -> None:
        super().__init__()
        if longest < 1:
            raise ValueError(f"longest is the number of positions that can be attended, at least 1; got {longest}")
        self.longest = longest
        self.projection = nn.Linear(query_dim, longest, bias=False)

    def form(self, prepared: Tensor) -> Form | None:
        """Row s of W is the key of position s."""
        size, steps = prepared.shape[:2]
        rows = self.projection.weight[:steps]
        return Form(F.pad(rows, (0, 0, 0, steps - rows.shape[0])).expand(size, -1, -1), longest=self.longest)

    def prepare(self, keys: Tensor) -> Tensor:
        """(..., S, D_k) -> (..., S, 0): only the number of keys is used."""
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
    equal_widths = True

    def __init__(self, query_dim: Count, key_dim: Count, temperature: Positive = 1.0) -> None:
        super().__init__()
        _same_width("cosine", query_dim, key_dim)
        if temperature <= 0:
            raise ValueError(f"the temperature of the cosine score must be positive; got {temperature}")
        self.temperature = temperature

    def form(self, prepared: Tensor) -> Form | None:
        return Form(prepared / self.temperature, unit=True)

    def prepare(self, keys: Tensor) -> Tensor:
        return self._direction(keys)

    def many(self, queries: Tensor, prepared: Tensor) -> Tensor:
        return self._direction(queries) / self.temperature @ prepared.transpose(-2, -1)

    def _direction(self, x: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return (x / length.clamp_min(self.SHORTEST)).masked_fill(length < self.SHORTEST, 0.0)


CLASSES: dict[str, type[Score]] = {
    "dot": DotScore,
    "scaled_dot": ScaledDotScore,
    "general": GeneralScore,
    "additive": AdditiveScore,
    "concat": ConcatScore,
    "location": LocationScore,
    "cosine": CosineScore,
}
SCORES = tuple(CLASSES)


def score_class(name: str) -> type[Score]:
    """The score called `name`: one of SCORES, or a class of your own by its dotted name, such as my_package.MyScore.

    Raises ValueError for an unknown score.
    """
    if "." not in name:
        return CLASSES[one_of("score", name, [*SCORES, OWN])]
    expected = f"expected one of {', '.join(SCORES)}, or {OWN}"
    try:
        found = class_at(name, Score)
    except ZooError as error:
        raise ValueError(f"score: {error}; {expected}") from error
    if inspect.isabstract(found):
        raise ValueError(f"score: {name} lacks {', '.join(sorted(found.__abstractmethods__))}; {expected}")
    return found


def is_score(name: str) -> bool:
    """Return True, or raise the ValueError of `score_class`."""
    return bool(score_class(name))


ScoreName = Annotated[str, Predicate(is_score)]
"""One of SCORES, or the dotted name of a class of your own."""


def score(
    name: str, query_dim: int, key_dim: int, attention_dim: int | None = None, longest: int | None = None
) -> Score:
    """The score called `name`, see `score_class`, built with those of the other arguments that its class takes.

    `attention_dim` is the inner width of additive and concat, `longest` the number of positions of location. Raises
    ValueError for another name, for an argument that is missing, or for widths that do not fit the score.
    """
    cls = score_class(name)
    offered = {"query_dim": query_dim, "key_dim": key_dim, "attention_dim": attention_dim, "longest": longest}
    parameters = inspect.signature(cls).parameters
    given = {key: value for key, value in offered.items() if key in parameters and value is not None}
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in given:
            offer = "" if key in offered else f", but the only arguments that a score can have are {', '.join(offered)}"
            raise ValueError(f"the {name} score needs {key}{offer}")
    return cls(**given)


class ContextScore(nn.Module):
    """Additive score against one learned query, the context vector: u = tanh(W h + b), score = u . u_w.

    Yang et al. 2016, equations 5-6 and 8-9. The query is a parameter, so a key alone decides its score.
    """

    def __init__(self, key_dim: Count, attention_dim: Count) -> None:
        super().__init__()
        self.projection = nn.Linear(key_dim, attention_dim)
        self.context = _vector(attention_dim)

    def forward(self, keys: Tensor) -> Tensor:
        """(..., D_k) -> (...)."""
        return self.projection(keys).tanh() @ self.context


def _vector(width: int) -> nn.Parameter:
    """A vector initialised as the weight of nn.Linear(width, 1)."""
    return nn.Parameter(torch.empty(width).uniform_(-1, 1) / width**0.5)


def _tanh_of_sum(queries: Tensor, keys: Tensor) -> Tensor:
    """tanh(q + k) of all pairs: (..., L, A), (..., S, A) -> (..., L, S, A)."""
    return (queries.unsqueeze(-2) + keys.unsqueeze(-3)).tanh_()  # in place, because the sum is so large


def _same_width(name: str, query_dim: int, key_dim: int) -> None:
    if query_dim != key_dim:
        raise ValueError(
            f"the {name} score needs queries and keys of one width; got {query_dim} and {key_dim}. "
            "general, additive and concat accept different widths"
        )
