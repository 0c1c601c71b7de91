"""Stacked LSTMs that are fed what they saw a step before (Luong et al. 2015), over packed rows with its own backward.

It is differentiable once.

Notation: as in `attention_loop`; L layers, H hidden units.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.layers.attention_loop import Looks, LooksBack, Rows, View
from zoo.layers.loops import outside_autocast, sigmoid_backward, tanh_backward


@torch.compiler.disable
def attention_lstm(
    table: Tensor,
    start: tuple[Tensor, Tensor],
    weights: Tensor,
    biases: Tensor,
    readout: Tensor,
    view: View,
    rows: Rows,
    drops: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """From (h, c) = `start`, (L, R, H) each, and f = 0 at each position, with a = softmax of the scores of h_L:

        i, f, g, o = W_x x + W_h h + b,  c, h as in any LSTM, in each layer, where x is f or the h of the layer below;
        f' = tanh(sum_s a_s value_s + W_f h_L),  which is fed to the next step.

    `table` (N, 4H) is b of the lowest layer and what else it reads, `biases` (L - 1, 4H) those of the others. `weights`
    (L, 4H, 2H) are [W_x W_h], `readout` (H, H) is W_f, and the values of `view` are H wide. `drops` (L, N, H) are the
    factors of dropout, 0 or 1 / (1 - p), on what goes up from each layer and, the last of them, on what is fed. All in
    one dtype. Returns f' (N, H), before its dropout, and the weights (N, S): the loss may read both.
    """
    keys, values, bias, somewhere, asks, v, place, length, reach, unit = view
    parts = (keys, values, asks, v, place, bias, somewhere, length, drops)
    return _AttentionLSTM.apply(table, *start, weights, biases, readout, *parts, (reach, unit), rows)


class _AttentionLSTM(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any,
        table: Tensor,
        start: Tensor,
        memory: Tensor,
        weights: Tensor,
        biases: Tensor,
        readout: Tensor,
        keys: Tensor,
        values: Tensor,
        asks: Tensor,
        v: Tensor | None,
        place: Tensor | None,
        bias: Tensor,
        somewhere: Tensor,
        length: Tensor,
        drops: Tensor | None,
        settings: tuple[int, bool],
        rows: Rows,
    ) -> tuple[Tensor, Tensor]:
        layers, _, width = start.shape
        positions, asked = len(table), len(asks)
        looks = Looks(View(keys, values, bias, somewhere, asks, v, place, length, *settings), rows)
        of_top = torch.cat([asks, readout])
        gates = torch.cat(
            [table[None], biases[:, None].expand(-1, positions, -1)]
        )  # overwritten step by step with i, f, g, o
        inputs = table.new_empty(layers, positions, 2 * width)  # [x; h] of each layer
        cells, hidden = table.new_empty(2, layers, positions, width)
        sums = table.new_empty(positions, asked + width)  # what is asked, and W_f h_L
        output = table.new_empty(positions, width)
        stacks = [_layer_steps(rows, gates[k], inputs[k], cells[k], hidden[k]) for k in range(layers)]
        drop = [] if drops is None else [part.split(rows.sizes) for part in drops]
        h, c = list(start), list(memory)
        below = start.new_zeros(start.shape[1:])
        for t, (sums_t, output_t) in enumerate(rows.steps(sums, output)):
            size = len(output_t)
            for k in range(layers):
                gates_t, if_t, i_t, f_t, g_t, o_t, x_t, h_t, inputs_t, cell_t, hidden_t = stacks[k][t]
                x_t.copy_(below[:size])
                h_t.copy_(h[k][:size])
                gates_t.addmm_(inputs_t, weights[k].T)
                if_t.sigmoid_()
                g_t.tanh_()
                o_t.sigmoid_()
                c[k] = torch.mul(f_t, c[k][:size], out=cell_t).addcmul_(i_t, g_t)
                h[k] = torch.tanh(cell_t, out=hidden_t).mul_(o_t)
                below = h[k] * drop[k][t] if drop and k < layers - 1 else h[k]
            torch.mm(below, of_top.T, out=sums_t)
            mean = looks.forward(t, sums_t[:, :asked], below)
            torch.add(sums_t[:, asked:], mean, out=output_t).tanh_()
            below = output_t * drop[-1][t] if drop else output_t
        given = (weights, readout, keys, values, asks, v, place, bias, somewhere, length, drops, memory)
        ctx.save_for_backward(*given, gates, inputs, cells, hidden, sums, output, *looks.saved)
        ctx.settings, ctx.rows = settings, rows
        return output.clone(), looks.weights[:, 0].clone()

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor, d_weights: Tensor) -> tuple[Tensor | None, ...]:
        weights, readout, keys, values, asks, v, place, bias, somewhere, length, drops, memory, *kept = (
            ctx.saved_tensors
        )
        gates, inputs, cells, hidden, sums, output, *saved = kept
        rows: Rows = ctx.rows
        layers, _, width = hidden.shape
        asked = len(asks)
        view = View(keys, values, bias, somewhere, asks, v, place, length, *ctx.settings)
        looks = LooksBack(Looks(view, rows, saved), sums[:, :asked], hidden[-1], d_weights)
        of_top = torch.cat([asks, readout])
        before = torch.stack([rows.previous(*pair) for pair in zip(memory, cells, strict=True)])
        d_gates = torch.empty_like(gates)  # first the derivatives of c' and, by o, h' by the sums in i, f, g, o
        i, f, g, o = gates.split(width, 2)
        d_i, d_f, d_g, d_o = d_gates.split(width, 2)
        tanh_c = cells.tanh()
        sigmoid_backward.grad_input(g, i, grad_input=d_i)
        sigmoid_backward.grad_input(before, f, grad_input=d_f)
        tanh_backward.grad_input(i, g, grad_input=d_g)
        sigmoid_backward.grad_input(tanh_c, o, grad_input=d_o)
        h_by_c = tanh_backward(o, tanh_c)  # derivative of h' by c'
        stacks = [
            rows.steps(d_gates[k], d_gates[k, :, : 3 * width].unflatten(1, (3, width)), d_o[k], f[k], h_by_c[k])
            for k in range(layers)
        ]
        drop = [] if drops is None else [part.split(rows.sizes) for part in drops]
        d_sums = torch.empty_like(sums)
        tops = rows.steps(d_sums, *d_sums.split([asked, width], 1), output, d_output)
        carry_h, carry_c = (
            torch.zeros_like(memory),
            torch.zeros_like(memory),
        )  # of each row's state; it joins at its end
        carry_f = torch.zeros_like(memory[0])
        for t in reversed(range(len(tops))):
            d_sums_t, d_asked_t, d_mean_t, output_t, d_output_t = tops[t]
            size = len(output_t)
            d = carry_f[:size]
            if drop:
                d.mul_(drop[-1][t])
            tanh_backward.grad_input(d.add_(d_output_t), output_t, grad_input=d_mean_t)
            d_top = looks.backward(t, d_mean_t, d_asked_t)
            below = d_sums_t @ of_top if d_top is None else d_top.addmm_(d_sums_t, of_top)
            for k in reversed(range(layers)):
                d_gates_t, d_ifg_t, d_o_t, f_t, h_by_c_t = stacks[k][t]
                d = carry_h[k, :size].add_(below)
                d_c = carry_c[k, :size].addcmul_(d, h_by_c_t)
                d_ifg_t.mul_(d_c[:, None])
                d_o_t.mul_(d)
                d_c.mul_(f_t)
                below, d_h = (d_gates_t @ weights[k]).split(width, 1)
                carry_h[k, :size].copy_(d_h)
                if drop and k:
                    below = below * drop[k - 1][t]
            carry_f[:size].copy_(below)
        d_matrices = torch.bmm(d_gates.transpose(1, 2), inputs)
        d_asks, d_readout = (d_sums.T @ hidden[-1]).split([asked, width])
        d_keys, d_values, d_v, d_place = looks.finish(sums[:, :asked], d_sums[:, asked:])
        d_decoder = (d_gates[0], carry_h, carry_c, d_matrices, d_gates[1:].sum(1), d_readout)
        return *d_decoder, d_keys, d_values, d_asks, d_v, d_place, None, None, None, None, None, None


def _layer_steps(rows: Rows, gates: Tensor, inputs: Tensor, cells: Tensor, hidden: Tensor) -> list[tuple[Tensor, ...]]:
    """One layer's views at each time step: its gates (all, i and f, i, f, g, o), x, h, [x; h], c' and h'."""
    width = hidden.shape[1]
    of_gates = (gates, gates[:, : 2 * width], *gates.split(width, 1))
    return rows.steps(*of_gates, *inputs.split(width, 1), inputs, cells, hidden)
