"""Stacked LSTMs with input feeding (Luong et al. 2015), over packed rows with a backward pass of their own.

It is differentiable once.

Notation: as in `loops.attention`; L layers, H hidden units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.layers.loops.attention import (
    TENSORS,
    AttendedSource,
    AttentionSteps,
    AttentionStepsBackward,
    Settings,
    TimeSteps,
    parted,
)
from zoo.layers.loops.recurrent import (
    lstm_derivatives,
    lstm_step,
    lstm_step_backward,
    outside_autocast,
    tanh_backward,
)
from zoo.layers.uncompiled import uncompiled


@uncompiled
def attention_lstm(
    table: Tensor,
    start: tuple[Tensor, Tensor],
    weights: Tensor,
    biases: Tensor,
    readout: Tensor,
    source: AttendedSource,
    time_steps: TimeSteps,
    drops: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """From (h, c) = `start`, (L, R, H) each, and f = 0 at each position, with a = softmax of the scores of h_L:

        i, f, g, o = W_x x + W_h h + b,  c, h as in any LSTM, in each layer, where x is f or the h of the layer below;
        f' = tanh(sum_s a_s value_s + W_f h_L),  which is fed to the next step.

    `table` (N, 4H) is b of the lowest layer and what else it reads, `biases` (L - 1, 4H) those of the others. `weights`
    (L, 4H, 2H) are [W_x W_h], `readout` (H, H) is W_f, and the values of `source` are H wide. `drops` (L, N, H) are the
    factors of dropout, 0 or 1 / (1 - p), on the output of each layer and, the last of them, on the fed vector. All in
    one dtype. Returns f' (N, H), before its dropout, and the weights (N, S): the loss may read both.
    """
    settings, *seen = source
    decoder = _Decoder(table, *start, weights, biases, readout, drops)
    return _AttentionLSTM.apply(time_steps, settings, *decoder, *seen)


class _Decoder(NamedTuple):
    """The tensors of the LSTMs themselves, as `attention_lstm` explains them."""

    table: Tensor
    start_h: Tensor
    start_c: Tensor
    weights: Tensor
    biases: Tensor
    readout: Tensor
    drops: Tensor | None


class _SavedForBackward(NamedTuple):
    """Tensors that the backward pass reads of the LSTMs themselves."""

    start_c: Tensor
    weights: Tensor
    readout: Tensor
    drops: Tensor | None
    gates: Tensor
    """(L, N, 4H) i, f, g, o."""
    inputs: Tensor
    """(L, N, 2H) [x; h]."""
    cells: Tensor
    """(L, N, H) c'."""
    hidden: Tensor
    """(L, N, H) h'."""
    sums: Tensor
    """(N, A' + H) the products with `asks`, and W_f h_L."""
    output: Tensor
    """(N, H) f'."""


class _AttentionLSTM(torch.autograd.Function):
    """`tensors` are a `_Decoder` and a `AttendedSource` without its settings, one by one, as autograd requires them."""

    @staticmethod
    @outside_autocast
    def forward(ctx: Any, time_steps: TimeSteps, settings: Settings, *tensors: Any) -> tuple[Tensor, Tensor]:
        own, seen = parted(tensors, len(_Decoder._fields))
        table, start_h, start_c, weights, biases, readout, drops = _Decoder(*own)
        source = AttendedSource(settings, *seen)
        layers, _, width = start_h.shape
        positions, asked = len(table), len(source.asks)
        attention = AttentionSteps(source, time_steps)
        of_top = torch.cat([source.asks, readout])
        gates = torch.cat(
            [table[None], biases[:, None].expand(-1, positions, -1)]
        )  # overwritten step by step with i, f, g, o
        inputs = table.new_empty(layers, positions, 2 * width)
        cells, hidden = table.new_empty(2, layers, positions, width)
        sums = table.new_empty(positions, asked + width)
        output = table.new_empty(positions, width)
        stacks = [_layer_steps(time_steps, gates[k], inputs[k], cells[k], hidden[k]) for k in range(layers)]
        drop = [] if drops is None else [part.split(time_steps.sizes) for part in drops]
        h, c = list(start_h), list(start_c)
        below = start_h.new_zeros(start_h.shape[1:])
        for t, (sums_t, output_t) in enumerate(time_steps.steps(sums, output)):
            size = len(output_t)
            for k in range(layers):
                gates_t, if_t, i_t, f_t, g_t, o_t, x_t, h_t, inputs_t, cell_t, hidden_t = stacks[k][t]
                x_t.copy_(below[:size])
                h_t.copy_(h[k][:size])
                gates_t.addmm_(inputs_t, weights[k].T)
                lstm_step(if_t, i_t, f_t, g_t, o_t, c[k][:size], cell_t, hidden_t)
                h[k], c[k] = hidden_t, cell_t
                below = h[k] * drop[k][t] if drop and k < layers - 1 else h[k]
            torch.mm(below, of_top.T, out=sums_t)
            mean = attention.forward(t, sums_t[:, :asked], below)
            torch.add(sums_t[:, asked:], mean, out=output_t).tanh_()
            below = output_t * drop[-1][t] if drop else output_t
        kept = _SavedForBackward(start_c, weights, readout, drops, gates, inputs, cells, hidden, sums, output)
        ctx.save_for_backward(*kept, *seen, *attention.saved)
        ctx.time_steps, ctx.settings = time_steps, settings
        return output.clone(), attention.weights[:, 0].clone()

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor, d_weights: Tensor) -> tuple[Tensor | None, ...]:
        own, seen, saved = parted(ctx.saved_tensors, len(_SavedForBackward._fields), TENSORS)
        start_c, weights, readout, drops, gates, inputs, cells, hidden, sums, output = _SavedForBackward(*own)
        source, time_steps = AttendedSource(ctx.settings, *seen), ctx.time_steps
        layers, _, width = hidden.shape
        asked = len(source.asks)
        attention = AttentionStepsBackward(
            AttentionSteps(source, time_steps, saved), sums[:, :asked], hidden[-1], d_weights
        )
        of_top = torch.cat([source.asks, readout])
        before = torch.stack([time_steps.previous(*pair) for pair in zip(start_c, cells, strict=True)])
        d_gates, h_by_c = lstm_derivatives(gates, before, cells)
        f, d_o = gates.chunk(4, 2)[1], d_gates[..., 3 * width :]
        stacks = [
            time_steps.steps(d_gates[k], d_gates[k, :, : 3 * width].unflatten(1, (3, width)), d_o[k], f[k], h_by_c[k])
            for k in range(layers)
        ]
        drop = [] if drops is None else [part.split(time_steps.sizes) for part in drops]
        d_sums = torch.empty_like(sums)
        tops = time_steps.steps(d_sums, *d_sums.split([asked, width], 1), output, d_output)
        carry_h, carry_c = torch.zeros_like(start_c), torch.zeros_like(start_c)  # of each row's state, from its end on
        carry_f = torch.zeros_like(start_c[0])
        for t in reversed(range(len(tops))):
            d_sums_t, d_asked_t, d_mean_t, output_t, d_output_t = tops[t]
            size = len(output_t)
            d = carry_f[:size]
            if drop:
                d.mul_(drop[-1][t])
            tanh_backward.grad_input(d.add_(d_output_t), output_t, grad_input=d_mean_t)
            d_top = attention.backward(t, d_mean_t, d_asked_t)
            below = d_sums_t @ of_top if d_top is None else d_top.addmm_(d_sums_t, of_top)
            for k in reversed(range(layers)):
                d_gates_t, d_ifg_t, d_o_t, f_t, h_by_c_t = stacks[k][t]
                d = carry_h[k, :size].add_(below)
                lstm_step_backward(d, carry_c[k, :size], h_by_c_t, d_ifg_t, d_o_t, f_t)
                below, d_h = (d_gates_t @ weights[k]).split(width, 1)
                carry_h[k, :size].copy_(d_h)
                if drop and k:
                    below = below * drop[k - 1][t]
            carry_f[:size].copy_(below)
        d_matrices = torch.bmm(d_gates.transpose(1, 2), inputs)
        d_asks, d_readout = (d_sums.T @ hidden[-1]).split([asked, width])
        d_decoder = _Decoder(d_gates[0], carry_h, carry_c, d_matrices, d_gates[1:].sum(1), d_readout, None)
        return None, None, *d_decoder, *attention.finish(sums[:, :asked], d_sums[:, asked:], d_asks)


def _layer_steps(
    time_steps: TimeSteps, gates: Tensor, inputs: Tensor, cells: Tensor, hidden: Tensor
) -> list[tuple[Tensor, ...]]:
    """One layer's views at each time step: its gates (all, i and f, i, f, g, o), x, h, [x; h], c' and h'."""
    width = hidden.shape[1]
    of_gates = (gates, gates[:, : 2 * width], *gates.split(width, 1))
    return time_steps.steps(*of_gates, *inputs.split(width, 1), inputs, cells, hidden)
