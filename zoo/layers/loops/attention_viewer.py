"""The LSTM that attends to the places of an image before each step, with a gate on the context (Xu et al. 2015), over
packed rows with its own backward.

It is differentiable once. Unlike the sources of `loops.attention` every row has all its places, and an image has more
places than a caption has words: the product Z z with the context is computed once per step and not for every place
before the loop. The sum q + k over (b, S, A) numbers is the largest tensor of a step. It is in memory for some rows at
a time, and the backward pass computes it again.

Notation: as in `loops.attention`: N packed positions, R rows, b of them at a time step, S places, H width of the state,
A of a key, D of a value; G numbers of the gate, 0, 1 or D.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from zoo.attention.draw import draw
from zoo.layers.loops.attention import TimeSteps, softmax_backward
from zoo.layers.loops.recurrent import (
    lstm_derivatives,
    lstm_step,
    lstm_step_backward,
    outside_autocast,
    sigmoid_backward,
)
from zoo.layers.uncompiled import uncompiled

ON_CPU, ELSEWHERE = 2**21, 2**24
"""How many numbers of the sum are computed at once: as many as fit into a processor's last cache, and as many as fill
other devices."""
threshold_backward = torch.ops.aten.threshold_backward  # (gradient, relu, 0) -> gradient where relu > 0

Energy = Literal["tanh", "relu"]
Look = Literal["mean", "draw", "likeliest"]
"""The context of a step: the mean of the values under the weights, the value at a place drawn from them, or the value
at the place of the largest weight."""


class AttendedImages(NamedTuple):
    """The keys and values that the R rows attend to, and the score; every tensor in the dtype of the loop."""

    keys: Tensor
    """(R, S, A) k."""
    values: Tensor
    """(R, S, D)."""
    v: Tensor
    """(A) of the scores v . act(W q + k)."""
    asks: Tensor
    """(A + G, H) W, and below it the rows of the gate."""
    gate_bias: Tensor
    """(G)."""


class ViewerOutput(NamedTuple):
    """The tensors that the loss may read."""

    hidden: Tensor
    """(N, H) h'."""
    context: Tensor
    """(N, D) z."""
    weights: Tensor
    """(N, S) a."""
    places: Tensor | None
    """(N,) the place of the context, unless it is the mean."""


@uncompiled
def attention_viewer(
    table: Tensor,
    start: tuple[Tensor, Tensor],
    weight: Tensor,
    view: AttendedImages,
    time_steps: TimeSteps,
    energy: Energy = "tanh",
    look: Look = "mean",
) -> ViewerOutput:
    """Starting from (h, c) = `start`, (R, H) each, each position computes with act = tanh or relu:

        a = softmax of v . act(W h + k),  z = sigmoid(W_g h + b_g) * the context that `look` names, or without a gate
        only this context, i, f, g, o = x + Z z + U h,  c', h' as in any LSTM.

    `table` (N, 4H) is x, biases included; `weight` (4H, D + H) is [Z U]. All in one dtype. A place has no gradient.
    """
    keys, values, v, asks, gate_bias = view
    if energy == "tanh":  # tanh(x) = 2 sigmoid(2 x) - 1, in a fourth of the time; a softmax does not see the constant
        asks = torch.cat([2 * asks[: len(v)], asks[len(v) :]])
        keys, v = 2 * keys, 2 * v
    hidden, context, weights, places = _AttentionViewer.apply(
        time_steps, energy, look, table, *start, weight, keys, values, v, asks, gate_bias
    )
    return ViewerOutput(hidden, context, weights, None if look == "mean" else places)


class _Energies:
    """The scores v . act(q + k) of a time step, act = sigmoid or relu, and their backward pass."""

    def __init__(self, keys: Tensor, v: Tensor, energy: Energy) -> None:
        self.keys, self.v, self.relu = keys, v, energy == "relu"
        rows, *pair = keys.shape
        limit = ON_CPU if keys.device.type == "cpu" else ELSEWHERE
        self.rows = max(1, min(rows, limit // max(1, pair[0] * pair[1])))
        self.memory, self.scores = keys.new_empty(self.rows, *pair), keys.new_empty(rows, pair[0])

    def forward(self, query: Tensor) -> Tensor:
        """Queries (b, A) -> scores (b, S), in memory that the next call overwrites."""
        for some, acted in self._parts(query):
            torch.mv(acted.flatten(0, 1), self.v, out=self.scores[some].view(-1))
        return self.scores[: len(query)]

    def backward(self, query: Tensor, d_scores: Tensor, d_query: Tensor, d_keys: Tensor, d_v: Tensor) -> None:
        """From the gradient of the scores (b, S), write that of the queries into `d_query` (b, A) and add that of v to
        `d_v` (A). Add that of the keys to `d_keys` (R, S, A), without the factor v, which is equal everywhere."""
        for some, acted in self._parts(query):
            by_scores = d_scores[some]
            d_v.addmv_(acted.flatten(0, 1).T, by_scores.reshape(-1))
            if self.relu:
                threshold_backward.grad_input(by_scores[..., None].expand_as(acted), acted, 0, grad_input=acted)
            else:
                sigmoid_backward.grad_input(by_scores[..., None].expand_as(acted), acted, grad_input=acted)
            torch.sum(acted, 1, out=d_query[some])
            d_keys[some].add_(acted)
        d_query.mul_(self.v)

    def _parts(self, query: Tensor) -> Iterator[tuple[slice, Tensor]]:
        """For a few of the b rows at a time: their range, and act(q + k) (., S, A), in memory that the next rows
        overwrite."""
        for first in range(0, len(query), self.rows):
            some = slice(first, min(first + self.rows, len(query)))
            acted = torch.add(self.keys[some], query[some, None], out=self.memory[: some.stop - first])
            yield some, acted.relu_() if self.relu else acted.sigmoid_()


class _SavedForBackward(NamedTuple):
    """Tensors that the backward pass reads."""

    start_c: Tensor
    weight: Tensor
    keys: Tensor
    values: Tensor
    v: Tensor
    asks: Tensor
    gates: Tensor
    """(N, 4H) i, f, g, o."""
    cells: Tensor
    """(N, H) c'."""
    inputs: Tensor
    """(N, D + H) [z; h]."""
    asked: Tensor
    """(N, A + G) the query, and the gate."""
    seen: Tensor
    """(N, D) z before the gate; (N, 0) without one."""
    weights: Tensor
    """(N, S)."""
    places: Tensor
    """(N,); (0,) if the context is the mean."""


class _StepForward(NamedTuple):
    """The views of one time step that the forward pass fills."""

    gates: Tensor
    i_f: Tensor
    i: Tensor
    f: Tensor
    g: Tensor
    o: Tensor
    cell: Tensor
    hidden: Tensor
    inputs: Tensor
    z: Tensor
    h: Tensor
    asked: Tensor
    query: Tensor
    gate: Tensor
    weights: Tensor


class _StepBackward(NamedTuple):
    """The views of one time step that the backward pass reads, and the gradients that it fills."""

    f: Tensor
    h_by_c: Tensor
    query: Tensor
    gate: Tensor
    weights: Tensor
    d_hidden: Tensor
    d_context: Tensor
    d_weights: Tensor
    d_gates: Tensor
    d_ifg: Tensor
    d_o: Tensor
    d_inputs: Tensor
    d_z: Tensor
    d_h: Tensor
    d_seen: Tensor
    d_scores: Tensor
    d_asked: Tensor
    d_query: Tensor
    d_gate: Tensor


class _AttentionViewer(torch.autograd.Function):
    """`attention_viewer` with act = sigmoid or relu."""

    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any,
        time_steps: TimeSteps,
        energy: Energy,
        look: Look,
        table: Tensor,
        start_h: Tensor,
        start_c: Tensor,
        weight: Tensor,
        keys: Tensor,
        values: Tensor,
        v: Tensor,
        asks: Tensor,
        gate_bias: Tensor,
    ) -> tuple[Tensor, ...]:
        positions, width, depth = len(table), start_h.shape[1], values.shape[2]
        energies, gated = _Energies(keys, v, energy), len(gate_bias) > 0
        gates = table.clone()  # overwritten step by step with i, f, g, o
        cells, hidden = table.new_empty(2, positions, width)
        inputs, asked = table.new_empty(positions, depth + width), table.new_empty(positions, len(asks))
        seen, weights = table.new_empty(positions, depth if gated else 0), table.new_empty(positions, keys.shape[1])
        places = torch.empty(0 if look == "mean" else positions, dtype=torch.long, device=table.device)
        bias, flat = F.pad(gate_bias, (len(v), 0)), values.flatten(0, 1)
        first = torch.arange(len(values), device=table.device) * values.shape[1]  # of each row in `flat`
        of_cell = gates, gates[:, : 2 * width], *gates.split(width, 1), cells, hidden
        of_look = inputs, *inputs.split([depth, width], 1), asked, *asked.split([len(v), len(gate_bias)], 1), weights
        h, c, begin = start_h, start_c, 0
        for t in map(_StepForward._make, time_steps.steps(*of_cell, *of_look)):
            size, end = len(t.i), begin + len(t.i)
            torch.addmm(bias, t.h.copy_(h[:size]), asks.T, out=t.asked)
            torch.softmax(energies.forward(t.query), -1, out=t.weights)
            if look == "mean":
                z = torch.bmm(t.weights[:, None], values[:size])[:, 0]
            else:
                place = t.weights.argmax(-1) if look == "likeliest" else draw(t.weights)
                places[begin:end] = place
                z = flat.index_select(0, first[:size] + place)
            if gated:
                seen[begin:end] = z
                torch.mul(z, t.gate.sigmoid_(), out=t.z)
            else:
                t.z.copy_(z)
            t.gates.addmm_(t.inputs, weight.T)
            lstm_step(t.i_f, t.i, t.f, t.g, t.o, c[:size], t.cell, t.hidden)
            h, c = t.hidden, t.cell
            begin = end
        saved = _SavedForBackward(
            start_c, weight, keys, values, v, asks, gates, cells, inputs, asked, seen, weights, places
        )
        ctx.save_for_backward(*saved)
        ctx.time_steps, ctx.energy, ctx.look = time_steps, energy, look
        ctx.mark_non_differentiable(places)
        return hidden, inputs[:, :depth].clone(), weights.clone(), places

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(
        ctx: Any, d_hidden: Tensor, d_context: Tensor, d_weights: Tensor, _: Tensor
    ) -> tuple[Tensor | None, ...]:
        saved, time_steps = _SavedForBackward(*ctx.saved_tensors), ctx.time_steps
        width, depth, inner = saved.cells.shape[1], saved.values.shape[2], len(saved.v)
        energies, gate_width = _Energies(saved.keys, saved.v, ctx.energy), len(saved.asks) - inner
        before = time_steps.previous(saved.start_c, saved.cells)
        d_gates, h_by_c = lstm_derivatives(saved.gates, before, saved.cells)
        d_asked, d_inputs = torch.empty_like(saved.asked), torch.empty_like(saved.inputs)
        d_seen = saved.inputs.new_empty(len(d_inputs), depth)  # gradient of z before the gate
        d_keys, d_v, d_scores = torch.zeros_like(saved.keys), torch.zeros_like(saved.v), torch.empty_like(saved.weights)
        values_transposed = saved.values.transpose(1, 2)
        carry, carry_c = (
            torch.zeros_like(saved.start_c),
            torch.zeros_like(saved.start_c),
        )  # of each row, from its end on
        read = saved.gates[:, width : 2 * width], h_by_c, *saved.asked.split([inner, gate_width], 1), saved.weights
        of_cell = d_gates, d_gates[:, : 3 * width].unflatten(1, (3, width)), d_gates[:, 3 * width :]
        of_inputs = d_inputs, *d_inputs.split([depth, width], 1), d_seen
        of_look = d_scores, d_asked, *d_asked.split([inner, gate_width], 1)
        parts = (*read, d_hidden, d_context, d_weights, *of_cell, *of_inputs, *of_look)
        end = len(d_inputs)
        for t in map(_StepBackward._make, reversed(time_steps.steps(*parts))):
            size = len(t.f)
            d = carry[:size].add_(t.d_hidden)
            lstm_step_backward(d, carry_c[:size], t.h_by_c, t.d_ifg, t.d_o, t.f)
            torch.mm(t.d_gates, saved.weight, out=t.d_inputs)
            t.d_z.add_(t.d_context)
            if gate_width:
                by_gate = t.d_z * saved.seen[end - size : end]
                by_gate = by_gate.sum(1, keepdim=True) if gate_width == 1 else by_gate
                sigmoid_backward.grad_input(by_gate, t.gate, grad_input=t.d_gate)
                torch.mul(t.d_z, t.gate, out=t.d_seen)
            else:
                t.d_seen.copy_(t.d_z)
            by_weights = t.d_weights
            if ctx.look == "mean":
                by_weights = torch.baddbmm(by_weights[:, None], t.d_seen[:, None], values_transposed[:size])[:, 0]
            softmax_backward(by_weights, t.weights, -1, by_weights.dtype, grad_input=t.d_scores)
            energies.backward(t.query, t.d_scores, t.d_query, d_keys, d_v)
            torch.addmm(t.d_h, t.d_asked, saved.asks, out=d)
            end -= size
        d_asks, d_gate_bias = d_asked.T @ saved.inputs[:, depth:], d_asked[:, inner:].sum(0)
        d_values = _value_gradient(saved, time_steps, d_seen) if ctx.needs_input_grad[8] else None
        d_view = d_keys.mul_(saved.v), d_values, d_v, d_asks, d_gate_bias
        return None, None, None, d_gates, carry, carry_c, d_gates.T @ saved.inputs, *d_view


def _value_gradient(saved: _SavedForBackward, time_steps: TimeSteps, d_seen: Tensor) -> Tensor:
    """The gradient of the values (R, S, D) from that of the contexts (N, D)."""
    shares = saved.weights
    if len(saved.places):
        shares = torch.zeros_like(shares).scatter_(1, saved.places[:, None], 1.0)
    return torch.bmm(time_steps.grid(shares).transpose(1, 2), time_steps.grid(d_seen))
