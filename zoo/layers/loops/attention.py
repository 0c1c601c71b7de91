"""Attention inside a time loop over packed rows: the part that the loops of `attention_decoders` share.

The `form` of a score is one of two: the product q . k of a query with the prepared keys, or v . tanh(W q + k). The
second may have coverage (See et al. 2017): v . tanh(W q + k + w o), with o the sum of the weights before. A decoder
applies a linear map C to the context. The loop applies it to the values first, once per source position and in one
product: C sum_s a_s h_s = sum_s a_s (C h_s). Inside the loop only these values are multiplied with the weights.

Notation: N packed target positions, R target rows that are not empty, longest first, b of them at a time step, T time
steps, S source positions, H width of a decoder's state, A of a prepared key, D of a value.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from zoo.attention.local import PredictedWindow
from zoo.attention.scores import CosineScore, Form, Score
from zoo.layers.loops.loop import PackedSteps, sigmoid_backward, softmax_backward, tanh_backward
from zoo.layers.packing import Packing
from zoo.precision import precise_dtype

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TimeSteps(PackedSteps):
    """The time step and the row of each packed target position."""

    slot: Tensor  # (N,) the cell of each packed position in the flat grid (R, T)

    @classmethod
    def of(cls, packing: Packing) -> TimeSteps:
        """The time steps of a packing of (B, T)."""
        rank = packing.row.new_zeros(packing.shape[0])
        rank = rank.index_copy(0, packing.order, torch.arange(len(packing.order), device=rank.device))
        at = rank.index_select(0, packing.row) * len(packing.batch_sizes) + packing.time
        return cls(packing.batch_sizes, at)

    def grid(self, packed: Tensor) -> Tensor:
        """(N, ...) -> (R, T, ...), zero where a row has ended."""
        rows, steps = max(self.sizes, default=0), len(self.sizes)
        flat = packed.new_zeros(rows * steps, *packed.shape[1:]).index_copy_(0, self.slot, packed)
        return flat.view(rows, steps, *packed.shape[1:])


def say_where_unknown(score: Score) -> None:
    """Log that a network is trained by its `step`, if the loops cannot compute its score."""
    if type(score).form is Score.form:
        log.info(
            "%s gives no form for the time loop: the network is trained by its step, token by token, which is slower",
            type(score).__name__,
        )


class AttendedSource(NamedTuple):
    """The keys and values that the R target rows attend to, and the score; every tensor in the dtype of the loop."""

    time_steps: TimeSteps
    reach: int
    """D of local-p, else 0."""
    unit: bool
    """The state is compared by its direction, q / |q|."""
    keys: Tensor  # (R, S, A)
    values: Tensor  # (R, S, D)
    asks: Tensor
    """(A', H) the rows of all matrices that multiply a state before the attention: the A rows of W of the score
    v . tanh(W q + k), then the H rows of W_p of local-p, if these exist."""
    v: Tensor | None
    """(A) of the score v . tanh(W q + k); None where it is q . k with the state itself as q."""
    place: Tensor | None  # (H) v_p of local-p
    bias: Tensor
    """(N, 1, S) 0 where a target position may attend, -inf elsewhere. A target position without any source position has
    0 everywhere, since a softmax of -inf alone is NaN; `somewhere` sets its weights to 0."""
    somewhere: Tensor
    """(N, 1, 1) 1 for a target position that may attend to a source position, 0 for the others."""
    length: Tensor  # (N, 1, 1) the positions of each target position's source
    cover: Tensor | None = None
    """(A) w of the coverage, which `v` has to come with; None: the weights before do not matter."""

    @classmethod
    def of(
        cls,
        form: Form,
        values: Tensor,
        seen: Tensor,
        packing: Packing,
        window: PredictedWindow | None = None,
        cover: Tensor | None = None,
    ) -> AttendedSource:
        """The source that the target rows of `packing` (B, T) attend to, with a score of `form`, local-p's `window` and
        the vector w (A) of coverage.

        `values` (B, S, D) and the keys that the form was made from are zero at padding. `seen` (N, S) is True where a
        packed target position may attend.
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
            time_steps=TimeSteps.of(packing),
            reach=0 if window is None else window.reach,
            unit=form.unit,
            keys=form.keys.index_select(0, packing.order).to(dtype),
            values=values.index_select(0, packing.order).to(dtype),
            asks=torch.cat(asks).to(dtype) if asks else values.new_empty(0, form.keys.shape[2], dtype=dtype),
            v=None if form.v is None else form.v.to(dtype),
            place=None if window is None else window.v.to(dtype),
            bias=bias[:, None],
            somewhere=somewhere.to(dtype)[:, None],
            length=length.to(dtype)[:, None, None],
            cover=None if cover is None else cover.to(dtype),
        )

    def parts(self, asked: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The query (b, A) and W_p h (b, H), or nothing (b, 0), from `asked` = `asks` h (b, A') and h (b, H)."""
        width = 0 if self.v is None else len(self.v)
        return asked[:, :width] if width else state, asked[:, width:]


class AttentionSteps:
    """The attention at all time steps during one pass of a loop, with the tensors that its backward pass reads.

    `weights` (N, 1, S); `inside` (N, 1, S) those before the Gaussian of local-p, else the same; `share` (N, 1, 1) is
    p_t / length of local-p; `inner` is tanh(q + k) (N, S, A), the queries' directions (N, A), or nothing; `covered`
    (N, 1, S) is the sum of the weights before, or nothing.
    """

    def __init__(self, source: AttendedSource, saved: tuple[Tensor, ...] | None = None) -> None:
        self.source = source
        if saved is None:
            positions, (_, steps, width) = len(source.bias), source.keys.shape
            weights = torch.empty_like(source.bias)
            inside = weights if source.place is None else torch.empty_like(weights)
            inner = (positions, steps, width) if source.v is not None else (positions, width if source.unit else 0)
            before = torch.empty_like(weights) if source.cover is not None else weights[..., :0]
            saved = weights, inside, torch.empty_like(source.length), source.keys.new_empty(inner), before
        self.saved = self.weights, self.inside, self.share, self.inner, self.covered = saved
        self.total = source.keys.new_zeros(len(source.keys), 1, self.covered.shape[2])
        """(R, 1, S) the sum of all weights so far, or in the backward pass its gradient."""
        self.steps = source.time_steps.steps(source.bias, source.somewhere, source.length, *saved)
        self.keys_transposed, self.values_transposed = source.keys.transpose(1, 2), source.values.transpose(1, 2)
        self.position = torch.arange(source.keys.shape[1], device=source.keys.device)

    def forward(self, t: int, asked: Tensor, state: Tensor) -> Tensor:
        """Step t: `asks` h (b, A') and h (b, H) -> the mean of the values (b, D). W_p h in `asked` becomes its tanh."""
        bias, somewhere, length, weights, inside, share, inner, covered = self.steps[t]
        size = len(bias)
        query, place = self.source.parts(asked, state)
        if self.source.v is not None:
            torch.add(query[:, None], self.source.keys[:size], out=inner)
            if self.source.cover is not None:
                covered.copy_(self.total[:size])
                inner.addcmul_(covered.transpose(1, 2), self.source.cover)
            inner.tanh_()
            scores = (inner @ self.source.v)[:, None].add_(bias)
        else:
            if self.source.unit:
                query = torch.mul(query, _inverse_length(query), out=inner)
            scores = torch.baddbmm(bias, query[:, None], self.keys_transposed[:size])
        if self.source.place is None:
            torch.softmax(scores, -1, out=weights).mul_(somewhere)
        else:
            share.copy_((place.tanh_() @ self.source.place).sigmoid_()[:, None, None])
            p = share * length
            outside = (self.position - p.floor()).abs_() > self.source.reach
            scores.masked_fill_(outside, torch.finfo(scores.dtype).min)  # not -inf: a window may hold it alone
            torch.softmax(scores, -1, out=inside).masked_fill_(outside, 0.0).mul_(somewhere)
            torch.mul(inside, self.bell(p), out=weights)
        if self.source.cover is not None:
            self.total[:size].add_(weights)
        return torch.bmm(weights, self.source.values[:size])[:, 0]

    def bell(self, p: Tensor) -> Tensor:
        """exp(-(s - p)^2 / (2 (D / 2)^2)) of p (..., 1, 1): (..., 1, S)."""
        return (self.position - p).square_().mul_(-2 / self.source.reach**2).exp_()


class AttentionStepsBackward(AttentionSteps):
    """The backward pass through the attention of a loop, last step first.

    It reads what `AttentionSteps` saved, `asked` (N, A') after its forward pass, the states (N, H), and the gradient of
    the weights (N, S).
    """

    def __init__(
        self, source: AttendedSource, saved: tuple[Tensor, ...], asked: Tensor, states: Tensor, d_weights: Tensor
    ) -> None:
        super().__init__(source, saved)
        self.query, self.place = source.parts(asked, states)
        self.d_scores = torch.empty_like(self.weights)
        self.d_keys = torch.zeros_like(source.keys)
        self.d_share = torch.empty_like(self.share)  # of the sum inside the sigmoid
        self.by_tanh = torch.empty_like(source.keys if source.v is not None else source.keys[:0])
        self.d_cover = source.keys.new_zeros(source.keys.shape[2])
        parts = (d_weights[:, None], self.d_scores, self.d_share, self.query, self.place)
        self.steps_back = source.time_steps.steps(*parts)

    def backward(self, t: int, d_mean: Tensor, d_asked: Tensor) -> Tensor | None:
        """Step t: write the gradient of `asked` (b, A') into `d_asked`, from the gradient of the mean (b, D). If the
        state itself is the query, return the gradient of the state (b, H)."""
        source = self.source
        d_weights, d_scores, d_share, query, place = self.steps_back[t]
        _, _, length, weights, inside, share, inner, covered = self.steps[t]
        size = len(weights)
        d_query, d_place = source.parts(d_asked, d_asked)
        by_weights = torch.baddbmm(d_weights, d_mean[:, None], self.values_transposed[:size])
        if source.cover is not None:
            by_weights.add_(self.total[:size])
        if source.place is not None:
            p = share * length
            slope = (self.position - p).mul_(4 / source.reach**2)  # derivative of the Gaussian by p, divided by it
            d_p = (by_weights * weights).mul_(slope).sum(-1, keepdim=True)
            sigmoid_backward.grad_input(d_p * length, share, grad_input=d_share)
            tanh_backward.grad_input(d_share[:, 0] * source.place, place, grad_input=d_place)
            by_weights.mul_(self.bell(p))
        softmax_backward.out(by_weights, inside, -1, inside.dtype, grad_input=d_scores)
        if source.v is not None:
            by_tanh = self.by_tanh[:size]  # without the factor v, which is the same everywhere
            tanh_backward.grad_input(d_scores.transpose(1, 2).expand_as(inner), inner, grad_input=by_tanh)
            self.d_keys[:size].add_(by_tanh)
            torch.mul(by_tanh.sum(1), source.v, out=d_query)
            if source.cover is not None:
                self.total[:size].add_((by_tanh @ (source.v * source.cover))[:, None])
                self.d_cover.addmv_(by_tanh.flatten(0, 1).T, covered.flatten())
            return None
        by_query = torch.bmm(d_scores, source.keys[:size])[:, 0]
        if source.unit:
            along = (inner * by_query).sum(-1, keepdim=True)
            by_query.addcmul_(inner, along, value=-1).mul_(_inverse_length(query))
        return by_query

    def finish(self, d_means: Tensor, d_asks: Tensor) -> AttendedSource:
        """The gradients of the source, from those of all means (N, D) and of `asks`. Called once, after the backward
        pass of the first step."""
        source, grid = self.source, self.source.time_steps.grid
        d_v = d_place = d_cover = None
        if source.place is not None:
            d_place = (self.d_share[:, 0].T @ self.place)[0]
        if source.v is not None:
            d_v = (self.d_scores.reshape(1, -1) @ self.inner.flatten(0, 1))[0]
            d_keys = self.d_keys.mul_(source.v)
            d_cover = None if source.cover is None else self.d_cover * source.v
        else:
            compared = grid(self.inner if source.unit else self.query)  # (R, T, A)
            d_keys = torch.bmm(grid(self.d_scores[:, 0]).transpose(1, 2), compared)
        d_values = torch.bmm(grid(self.weights[:, 0]).transpose(1, 2), grid(d_means))
        gradients: Any = dict.fromkeys(AttendedSource._fields)
        gradients |= {"keys": d_keys, "values": d_values, "asks": d_asks, "v": d_v, "place": d_place, "cover": d_cover}
        return AttendedSource(**gradients)


def _inverse_length(query: Tensor) -> Tensor:
    """(b, A) -> (b, 1) 1 / |q|, and 0 for a query too short to have a direction (`CosineScore.SHORTEST`)."""
    length = torch.linalg.vector_norm(query, dim=-1, keepdim=True)
    return length.clamp_min(CosineScore.SHORTEST).reciprocal_().masked_fill_(length < CosineScore.SHORTEST, 0.0)
