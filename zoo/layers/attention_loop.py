"""Attention inside a time loop over packed rows: what `attention_loop_gru` and `attention_loop_lstm` share.

A score says by its `form` that it is one of two here: the product q . k of a query with the prepared keys, or
v . tanh(W q + k). What the decoder makes of the context is linear, so its matrix C acts on the values beforehand, once
per source position and in one product: C sum_s a_s h_s = sum_s a_s (C h_s). Inside the loop the weights meet these
values alone.

Notation: N packed target positions, R target rows that are not empty, longest first, b of them at a time step, T time
steps, S source positions, H width of a decoder's state, A of a prepared key, D of a value.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from zoo.attention.local import PredictedWindow
from zoo.attention.scores import CosineScore, Form, Score
from zoo.layers.loops import sigmoid_backward, tanh_backward
from zoo.layers.packing import Packing
from zoo.precision import precise_dtype

softmax_backward = torch.ops.aten._softmax_backward_data.out  # (gradient, softmax, dim, dtype, grad_input=)


log = logging.getLogger(__name__)


class TimeSteps(NamedTuple):
    """How the packed target positions lie in time."""

    sizes: tuple[int, ...]
    """Rows at each time step."""
    slot: Tensor
    """(N,) the cell of each packed position in the flat grid (R, T)."""

    @classmethod
    def of(cls, packing: Packing) -> TimeSteps:
        """The time steps of a packing of (B, T)."""
        rank = packing.row.new_zeros(packing.shape[0])
        rank = rank.index_copy(0, packing.order, torch.arange(len(packing.order), device=rank.device))
        at = rank.index_select(0, packing.row) * len(packing.batch_sizes) + packing.time
        return cls(packing.batch_sizes, at)

    def steps(self, *parts: Tensor) -> list[tuple[Tensor, ...]]:
        """The views (b, ...) of each (N, ...) tensor at each time step."""
        return list(zip(*(part.split(self.sizes) for part in parts), strict=True))

    def grid(self, packed: Tensor) -> Tensor:
        """(N, ...) -> (R, T, ...), zero where a row has ended."""
        rows, steps = max(self.sizes, default=0), len(self.sizes)
        flat = packed.new_zeros(rows * steps, *packed.shape[1:]).index_copy_(0, self.slot, packed)
        return flat.view(rows, steps, *packed.shape[1:])

    def previous(self, start: Tensor, states: Tensor) -> Tensor:
        """(N, H) the state that each position began with: `start` (R, H), then the step before in `states` (N, H)."""
        before = zip(states.split(self.sizes), self.sizes[1:], strict=False)
        return torch.cat([start, *(state[:size] for state, size in before)])


def say_where_unknown(score: Score) -> None:
    """Logs that a network is trained by its `step`, if the loops cannot compute its score."""
    if type(score).form is Score.form:
        log.info(
            "%s gives no form for the time loop: the network is trained by its step, token by token, which is slower",
            type(score).__name__,
        )


class Settings(NamedTuple):
    """What is no tensor of a `Scene`."""

    reach: int
    """D of local-p."""
    unit: bool
    """The state is compared by its direction, q / |q|."""


class Scene(NamedTuple):
    """What the R target rows look at, and through which score; every tensor in the dtype of the loop."""

    settings: Settings
    keys: Tensor
    """(R, S, A)."""
    values: Tensor
    """(R, S, D)."""
    asks: Tensor
    """(A', H) the rows of all matrices that read a state before it looks: the A rows of W of the score
    v . tanh(W q + k), and below them the H rows of W_p of local-p. Each only where there is one."""
    v: Tensor | None
    """(A) of the score v . tanh(W q + k); None where it is q . k with the state itself as q."""
    place: Tensor | None
    """(H) v_p of local-p."""
    bias: Tensor
    """(N, 1, S) 0 where a target position may look, -inf elsewhere. A target position that may look nowhere has 0
    everywhere, since a softmax of -inf alone is NaN, and `somewhere` takes its weights away."""
    somewhere: Tensor
    """(N, 1, 1) 1 for a target position that may look at something, 0 for one that may not."""
    length: Tensor
    """(N, 1, 1) the positions of each target position's source."""

    @classmethod
    def of(
        cls,
        form: Form,
        values: Tensor,
        seen: Tensor,
        packing: Packing,
        window: PredictedWindow | None = None,
    ) -> Scene:
        """What the target rows of `packing` (B, T) see of B sources through a score of `form` and local-p's `window`.

        `values` (B, S, D) are zero at padding, as the prepared keys were that the form was made of; `seen` (N, S) is
        True where a packed target position may look.
        """
        length = seen.sum(-1)
        if form.longest is not None:
            seen = seen & (torch.arange(seen.shape[1], device=seen.device) < form.longest)
        readers = form.matrix, None if window is None else window.projection.weight
        asks = [matrix for matrix in readers if matrix is not None]
        dtype = precise_dtype(values.dtype)
        somewhere = seen.any(-1, keepdim=True)
        bias = torch.zeros_like(seen, dtype=dtype).masked_fill(~seen & somewhere, -torch.inf)
        return cls(
            settings=Settings(reach=0 if window is None else window.reach, unit=form.unit),
            keys=form.keys.index_select(0, packing.order).to(dtype),
            values=values.index_select(0, packing.order).to(dtype),
            asks=torch.cat(asks).to(dtype) if asks else values.new_empty(0, form.keys.shape[2], dtype=dtype),
            v=None if form.v is None else form.v.to(dtype),
            place=None if window is None else window.v.to(dtype),
            bias=bias[:, None],
            somewhere=somewhere.to(dtype)[:, None],
            length=length.to(dtype)[:, None, None],
        )

    def parts(self, asked: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The query (b, A) and W_p h (b, H), or nothing (b, 0), from `asked` = `asks` h (b, A') and h (b, H)."""
        width = 0 if self.v is None else len(self.v)
        return asked[:, :width] if width else state, asked[:, width:]


TENSORS = len(Scene._fields) - 1
"""How many tensors a scene has, all of them behind its settings: autograd takes them one by one."""


def parted(tensors: Sequence[Any], *counts: int) -> list[Sequence[Any]]:
    """`tensors` cut into parts of so many, and the rest."""
    parts = []
    for count in counts:
        parts.append(tensors[:count])
        tensors = tensors[count:]
    return [*parts, tensors]


class Looks:
    """The looks of all time steps, while one pass of a loop lasts, and what the way back needs of them.

    `weights` (N, 1, S); `inside` (N, 1, S) those before the Gaussian of local-p, else the same; `share` (N, 1, 1) is
    p_t / length of local-p; `inner` is tanh(q + k) (N, S, A), the queries' directions (N, A), or nothing.
    """

    def __init__(self, scene: Scene, time_steps: TimeSteps, saved: Sequence[Tensor] | None = None) -> None:
        self.scene, self.time_steps = scene, time_steps
        if saved is None:
            positions, (_, steps, width) = len(scene.bias), scene.keys.shape
            weights = torch.empty_like(scene.bias)
            inside = weights if scene.place is None else torch.empty_like(weights)
            inner = (
                (positions, steps, width) if scene.v is not None else (positions, width if scene.settings.unit else 0)
            )
            saved = weights, inside, torch.empty_like(scene.length), scene.keys.new_empty(inner)
        self.saved = self.weights, self.inside, self.share, self.inner = saved
        self.steps = time_steps.steps(scene.bias, scene.somewhere, scene.length, *saved)
        self.keys_transposed, self.values_transposed = scene.keys.transpose(1, 2), scene.values.transpose(1, 2)
        self.position = torch.arange(scene.keys.shape[1], device=scene.keys.device)

    def forward(self, t: int, asked: Tensor, state: Tensor) -> Tensor:
        """Step t: `asks` h (b, A') and h (b, H) -> the mean of the values (b, D). W_p h in `asked` becomes its tanh."""
        bias, somewhere, length, weights, inside, share, inner = self.steps[t]
        size = len(bias)
        query, place = self.scene.parts(asked, state)
        if self.scene.v is not None:
            torch.add(query[:, None], self.scene.keys[:size], out=inner).tanh_()
            scores = (inner @ self.scene.v)[:, None].add_(bias)
        else:
            if self.scene.settings.unit:
                query = torch.mul(query, _inverse_length(query), out=inner)
            scores = torch.baddbmm(bias, query[:, None], self.keys_transposed[:size])
        if self.scene.place is None:
            torch.softmax(scores, -1, out=weights).mul_(somewhere)
        else:
            share.copy_((place.tanh_() @ self.scene.place).sigmoid_()[:, None, None])
            p = share * length
            outside = (self.position - p.floor()).abs_() > self.scene.settings.reach
            scores.masked_fill_(outside, torch.finfo(scores.dtype).min)  # not -inf: a window may hold it alone
            torch.softmax(scores, -1, out=inside).masked_fill_(outside, 0.0).mul_(somewhere)
            torch.mul(inside, self.bell(p), out=weights)
        return torch.bmm(weights, self.scene.values[:size])[:, 0]

    def bell(self, p: Tensor) -> Tensor:
        """exp(-(s - p)^2 / (2 (D / 2)^2)) of p (..., 1, 1): (..., 1, S)."""
        return (self.position - p).square_().mul_(-2 / self.scene.settings.reach**2).exp_()


class LooksBack:
    """The way back through the looks of a run, last step first."""

    def __init__(self, looks: Looks, asked: Tensor, states: Tensor, d_weights: Tensor) -> None:
        """`asked` (N, A') as `Looks.forward` left it, `states` (N, H), and the gradient of the weights (N, S)."""
        self.looks, scene = looks, looks.scene
        self.query, place = scene.parts(asked, states)
        self.d_scores = torch.empty_like(looks.weights)
        self.d_keys = torch.zeros_like(scene.keys)
        self.d_share = torch.empty_like(looks.share)  # of the sum inside the sigmoid
        self.by_tanh = torch.empty_like(scene.keys) if scene.v is not None else None
        parts = (d_weights[:, None], self.d_scores, self.d_share, self.query, place)
        self.steps = looks.time_steps.steps(*parts)

    def backward(self, t: int, d_mean: Tensor, d_asked: Tensor) -> Tensor | None:
        """Step t: from the gradient of its mean (b, D), that of `asked` (b, A') into `d_asked`, and if the state itself
        is the query, that of the state (b, H)."""
        looks, scene = self.looks, self.looks.scene
        d_weights, d_scores, d_share, query, place = self.steps[t]
        _, _, length, weights, inside, share, inner = looks.steps[t]
        size = len(weights)
        d_query, d_place = scene.parts(d_asked, d_asked)
        by_weights = torch.baddbmm(d_weights, d_mean[:, None], looks.values_transposed[:size])
        if scene.place is not None:
            p = share * length
            slope = (looks.position - p).mul_(4 / scene.settings.reach**2)  # of the Gaussian by p, divided by it
            d_p = (by_weights * weights).mul_(slope).sum(-1, keepdim=True)
            sigmoid_backward.grad_input(d_p * length, share, grad_input=d_share)
            tanh_backward.grad_input(d_share[:, 0] * scene.place, place, grad_input=d_place)
            by_weights.mul_(looks.bell(p))
        softmax_backward(by_weights, inside, -1, inside.dtype, grad_input=d_scores)
        if self.by_tanh is not None and scene.v is not None:
            by_tanh = self.by_tanh[:size]  # without the factor v, which is the same everywhere
            tanh_backward.grad_input(d_scores.transpose(1, 2).expand_as(inner), inner, grad_input=by_tanh)
            self.d_keys[:size].add_(by_tanh)
            torch.mul(by_tanh.sum(1), scene.v, out=d_query)
            return None
        by_query = torch.bmm(d_scores, scene.keys[:size])[:, 0]
        if scene.settings.unit:
            along = (inner * by_query).sum(-1, keepdim=True)
            by_query.addcmul_(inner, along, value=-1).mul_(_inverse_length(query))
        return by_query

    def finish(self, asked: Tensor, d_means: Tensor, d_asks: Tensor) -> tuple[Tensor | None, ...]:
        """After the first step, from the gradients of all means (N, D) and of `asks`: those of the scene's tensors, in
        its order."""
        looks, scene, grid = self.looks, self.looks.scene, self.looks.time_steps.grid
        d_v = d_place = None
        if scene.place is not None:
            d_place = self.d_share[:, 0].T @ scene.parts(asked, asked)[1]
        if scene.v is not None:
            d_v = self.d_scores.reshape(1, -1) @ looks.inner.flatten(0, 1)
            d_keys = self.d_keys.mul_(scene.v)
        else:
            compared = grid(looks.inner if scene.settings.unit else self.query)  # (R, T, A)
            d_keys = torch.bmm(grid(self.d_scores[:, 0]).transpose(1, 2), compared)
        d_values = torch.bmm(grid(looks.weights[:, 0]).transpose(1, 2), grid(d_means))
        return (
            d_keys,
            d_values,
            d_asks,
            d_v if d_v is None else d_v[0],
            d_place if d_place is None else d_place[0],
            *[None] * (TENSORS - 5),
        )


def _inverse_length(query: Tensor) -> Tensor:
    """(b, A) -> (b, 1) 1 / |q|, and 0 for a query too short to have a direction (`CosineScore.SHORTEST`)."""
    length = torch.linalg.vector_norm(query, dim=-1, keepdim=True)
    return length.clamp_min(CosineScore.SHORTEST).reciprocal_().masked_fill_(length < CosineScore.SHORTEST, 0.0)
