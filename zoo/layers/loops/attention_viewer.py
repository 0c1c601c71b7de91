"""The LSTM that attends to the places of an image, or to the frames of a clip, before each step, with a gate on the
context (Xu et al. 2015, Yao et al. 2015), over packed rows.

Unlike the sources of `loops.attention`, an image has more places than a caption has words: the product Z z with the
context is computed once per step and not for every place before the loop. The sum q + k over (b, S, A) numbers is the
largest tensor of a step. It is in memory for some rows at a time, and the backward pass computes it again.

Notation: as in `loops.attention`: N packed positions, R rows, b of them at a time step, S places, H width of the state,
A of a key, D of a value; G numbers of the gate, 0, 1 or D.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from zoo.attention.softmax import draw
from zoo.layers.loops.additive import most_numbers
from zoo.layers.loops.attention import TimeSteps
from zoo.layers.loops.loop import Loop, LSTMSteps, LSTMStepsBackward, sigmoid_backward, softmax_backward

threshold_backward = torch.ops.aten.threshold_backward  # (gradient, relu, 0) -> gradient where relu > 0

Energy = Literal["tanh", "relu"]
Look = Literal["mean", "draw", "likeliest"]
"""The context of a step: the mean of the values under the weights, the value at a place drawn from them, or the value
at the place of the largest weight."""


class AttendedImages(NamedTuple):
    """The keys and values that the R rows attend to, and the score; every tensor in the dtype of the loop."""

    keys: Tensor  # (R, S, A) k
    values: Tensor  # (R, S, D)
    v: Tensor
    """(A) of the scores v . act(W q + k)."""
    asks: Tensor  # (A + G, H) W, and below it the rows of the gate
    gate_bias: Tensor  # (G)
    exists: Tensor | None = None
    """(R, S) True at the places that exist; the others have weight 0. None: all do, which costs nothing."""


class ViewerOutput(NamedTuple):
    """The tensors that the loss may read."""

    hidden: Tensor  # (N, H) h'
    context: Tensor  # (N, D) z
    weights: Tensor  # (N, S) a
    places: Tensor | None  # (N,) the place of the context, unless it is the mean


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
    if energy == "tanh":  # tanh(x) = 2 sigmoid(2 x) - 1, in a fourth of the time; a softmax does not see the constant
        asks = torch.cat([2 * view.asks[: len(view.v)], view.asks[len(view.v) :]])
        view = view._replace(keys=2 * view.keys, v=2 * view.v, asks=asks)
    output = ViewerOutput(*_AttentionViewer(time_steps, energy, look)(table, start, weight, view))
    return output if look != "mean" else output._replace(places=None)


class _Energies:
    """The scores v . act(q + k) of a time step, act = sigmoid or relu, and their backward pass."""

    def __init__(self, keys: Tensor, v: Tensor, energy: Energy) -> None:
        self.keys, self.v, self.relu = keys, v, energy == "relu"
        rows, *pair = keys.shape
        self.rows = max(1, min(rows, most_numbers(keys) // max(1, pair[0] * pair[1])))
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


class _AttentionViewer(Loop):
    """`attention_viewer` with act = sigmoid or relu."""

    def __init__(self, time_steps: TimeSteps, energy: Energy, look: Look) -> None:
        self.time_steps, self.energy, self.look = time_steps, energy, look

    def forward(
        self, table: Tensor, start: tuple[Tensor, Tensor], weight: Tensor, view: AttendedImages
    ) -> tuple[Tensor, ...]:
        keys, values, v, asks, gate_bias, exists = view
        (h, c), positions, depth = start, len(table), values.shape[2]
        width, look, gated = h.shape[1], self.look, len(gate_bias) > 0
        energies = _Energies(keys, v, self.energy)
        gates = table.clone()  # (N, 4H), overwritten step by step with i, f, g, o
        cells, hidden = table.new_empty(2, positions, width)
        inputs = table.new_empty(positions, depth + width)  # [z; h]
        asked = table.new_empty(positions, len(asks))  # the query, and the gate
        seen = table.new_empty(positions, depth if gated else 0)  # z before the gate
        weights = table.new_empty(positions, keys.shape[1])
        places = torch.empty(0 if look == "mean" else positions, dtype=torch.long, device=table.device)
        bias, flat = F.pad(gate_bias, (len(v), 0)), values.flatten(0, 1)
        first = torch.arange(len(values), device=table.device) * values.shape[1]  # of each row in `flat`
        missing, lowest = None if exists is None else ~exists, torch.finfo(keys.dtype).min
        lstm, begin = LSTMSteps(self.time_steps, gates, cells, hidden), 0
        parts = *inputs.split([depth, width], 1), *asked.split([len(v), len(gate_bias)], 1)
        steps = self.time_steps.steps(gates, inputs, asked, weights, *parts)
        for t, (gates_t, inputs_t, asked_t, weights_t, z_t, h_t, query_t, gate_t) in enumerate(steps):
            size, end = len(gates_t), begin + len(gates_t)
            torch.addmm(bias, h_t.copy_(h[:size]), asks.T, out=asked_t)
            scores = energies.forward(query_t)
            if missing is not None:
                scores.masked_fill_(missing[:size], lowest)
            torch.softmax(scores, -1, out=weights_t)
            if missing is not None:
                weights_t.masked_fill_(missing[:size], 0.0)  # also in a row without any place
            if look == "mean":
                z = torch.bmm(weights_t[:, None], values[:size])[:, 0]
            else:
                place = weights_t.argmax(-1) if look == "likeliest" else draw(weights_t)
                places[begin:end] = place
                z = flat.index_select(0, first[:size] + place)
            if gated:
                seen[begin:end] = z
                torch.mul(z, gate_t.sigmoid_(), out=z_t)
            else:
                z_t.copy_(z)
            gates_t.addmm_(inputs_t, weight.T)
            h, c = lstm.forward(t, c[:size])
            begin = end
        self.start_c, self.weight, self.view, self.gates, self.cells = start[1], weight, view, gates, cells
        self.inputs, self.asked, self.seen, self.weights, self.places = inputs, asked, seen, weights, places
        return hidden, inputs[:, :depth].clone(), weights.clone(), places

    def backward(self, d_hidden: Tensor, d_context: Tensor, d_weights: Tensor, _: Tensor) -> tuple[Any, ...]:
        view, inputs, time_steps = self.view, self.inputs, self.time_steps
        keys, values, v, asks = view[:4]
        width, depth, gate_width = self.cells.shape[1], values.shape[2], len(asks) - len(v)
        energies = _Energies(keys, v, self.energy)
        d_gates, before = torch.empty_like(self.gates), time_steps.previous(self.start_c, self.cells)
        lstm = LSTMStepsBackward(time_steps, self.gates, before, self.cells, d_gates)
        d_asked, d_inputs = torch.empty_like(self.asked), torch.empty_like(inputs)
        d_seen = inputs.new_empty(len(inputs), depth)  # gradient of z before the gate
        d_keys, d_v, d_scores = torch.zeros_like(keys), torch.zeros_like(v), torch.empty_like(self.weights)
        values_transposed = values.transpose(1, 2)
        carry, carry_c = torch.zeros_like(self.start_c), torch.zeros_like(self.start_c)  # of each row, from its end on
        asked_parts, d_asked_parts = (part.split([len(v), gate_width], 1) for part in (self.asked, d_asked))
        d_input_parts = d_inputs.split([depth, width], 1)
        looks = time_steps.steps(*asked_parts, self.weights, d_weights, d_scores, d_asked, *d_asked_parts)
        steps = time_steps.steps(d_hidden, d_context, d_inputs, *d_input_parts, d_seen)
        end = len(inputs)
        for t in reversed(range(len(steps))):
            d_hidden_t, d_context_t, d_inputs_t, d_z_t, d_h_t, d_seen_t = steps[t]
            query_t, gate_t, weights_t, by_weights, d_scores_t, d_asked_t, d_query_t, d_gate_t = looks[t]
            size = len(d_hidden_t)
            d = carry[:size].add_(d_hidden_t)
            torch.mm(lstm.backward(t, d, carry_c[:size]), self.weight, out=d_inputs_t)
            d_z_t.add_(d_context_t)
            if gate_width:
                by_gate = d_z_t * self.seen[end - size : end]
                by_gate = by_gate.sum(1, keepdim=True) if gate_width == 1 else by_gate
                sigmoid_backward.grad_input(by_gate, gate_t, grad_input=d_gate_t)
                torch.mul(d_z_t, gate_t, out=d_seen_t)
            else:
                d_seen_t.copy_(d_z_t)
            if self.look == "mean":
                by_weights = torch.baddbmm(by_weights[:, None], d_seen_t[:, None], values_transposed[:size])[:, 0]
            softmax_backward.out(by_weights, weights_t, -1, by_weights.dtype, grad_input=d_scores_t)
            energies.backward(query_t, d_scores_t, d_query_t, d_keys, d_v)
            torch.addmm(d_h_t, d_asked_t, asks, out=d)
            end -= size
        d_asks, d_gate_bias = d_asked.T @ inputs[:, depth:], d_asked[:, len(v) :].sum(0)
        d_values = self._value_gradient(d_seen) if self.needs[3].values else None
        d_view = d_keys.mul_(v), d_values, d_v, d_asks, d_gate_bias, None
        return d_gates, (carry, carry_c), d_gates.T @ inputs, d_view

    def _value_gradient(self, d_seen: Tensor) -> Tensor:
        """The gradient of the values (R, S, D) from that of the contexts (N, D)."""
        shares = self.weights
        if len(self.places):
            shares = torch.zeros_like(shares).scatter_(1, self.places[:, None], 1.0)
        return torch.bmm(self.time_steps.grid(shares).transpose(1, 2), self.time_steps.grid(d_seen))
