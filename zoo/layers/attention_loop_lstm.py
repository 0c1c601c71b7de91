"""Stacked LSTMs that are fed what they saw a step before (Luong et al. 2015), over packed rows with its own backward.

It is differentiable once.

Notation: as in `attention_loop`; L layers, H hidden units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.layers.attention_loop import TENSORS, Looks, LooksBack, Scene, Settings, TimeSteps, parted
from zoo.layers.loops import outside_autocast, sigmoid_backward, tanh_backward


@torch.compiler.disable
def attention_lstm(
    table: Tensor,
    start: tuple[Tensor, Tensor],
    weights: Tensor,
    biases: Tensor,
    readout: Tensor,
    scene: Scene,
    time_steps: TimeSteps,
    drops: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """From (h, c) = `start`, (L, R, H) each, and f = 0 at each position, with a = softmax of the scores of h_L:

        i, f, g, o = W_x x + W_h h + b,  c, h as in any LSTM, in each layer, where x is f or the h of the layer below;
        f' = tanh(sum_s a_s value_s + W_f h_L),  which is fed to the next step.

    `table` (N, 4H) is b of the lowest layer and what else it reads, `biases` (L - 1, 4H) those of the others. `weights`
    (L, 4H, 2H) are [W_x W_h], `readout` (H, H) is W_f, and the values of `scene` are H wide. `drops` (L, N, H) are the
    factors of dropout, 0 or 1 / (1 - p), on what goes up from each layer and, the last of them, on what is fed. All in
    one dtype. Returns f' (N, H), before its dropout, and the weights (N, S): the loss may read both.
    """
    settings, *seen = scene
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


class _Kept(NamedTuple):
    """What the way back needs of the LSTMs' own."""

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
    """(N, A' + H) what was asked, and W_f h_L."""
    output: Tensor
    """(N, H) f'."""


class _AttentionLSTM(torch.autograd.Function):
    """`tensors` are a `_Decoder` and a `Scene` without its settings, one by one, as autograd wants them."""

    @staticmethod
    @outside_autocast
    def forward(ctx: Any, time_steps: TimeSteps, settings: Settings, *tensors: Any) -> tuple[Tensor, Tensor]:
        own, seen = parted(tensors, len(_Decoder._fields))
        table, start_h, start_c, weights, biases, readout, drops = _Decoder(*own)
        scene = Scene(settings, *seen)
        layers, _, width = start_h.shape
        positions, asked = len(table), len(scene.asks)
        looks = Looks(scene, time_steps)
        of_top = torch.cat([scene.asks, readout])
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
        kept = _Kept(start_c, weights, readout, drops, gates, inputs, cells, hidden, sums, output)
        ctx.save_for_backward(*kept, *seen, *looks.saved)
        ctx.time_steps, ctx.settings = time_steps, settings
        return output.clone(), looks.weights[:, 0].clone()

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor, d_weights: Tensor) -> tuple[Tensor | None, ...]:
        own, seen, saved = parted(ctx.saved_tensors, len(_Kept._fields), TENSORS)
        start_c, weights, readout, drops, gates, inputs, cells, hidden, sums, output = _Kept(*own)
        scene, time_steps = Scene(ctx.settings, *seen), ctx.time_steps
        layers, _, width = hidden.shape
        asked = len(scene.asks)
        looks = LooksBack(Looks(scene, time_steps, saved), sums[:, :asked], hidden[-1], d_weights)
        of_top = torch.cat([scene.asks, readout])
        before = torch.stack([time_steps.previous(*pair) for pair in zip(start_c, cells, strict=True)])
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
        d_decoder = _Decoder(d_gates[0], carry_h, carry_c, d_matrices, d_gates[1:].sum(1), d_readout, None)
        return None, None, *d_decoder, *looks.finish(sums[:, :asked], d_sums[:, asked:], d_asks)


def _layer_steps(
    time_steps: TimeSteps, gates: Tensor, inputs: Tensor, cells: Tensor, hidden: Tensor
) -> list[tuple[Tensor, ...]]:
    """One layer's views at each time step: its gates (all, i and f, i, f, g, o), x, h, [x; h], c' and h'."""
    width = hidden.shape[1]
    of_gates = (gates, gates[:, : 2 * width], *gates.split(width, 1))
    return time_steps.steps(*of_gates, *inputs.split(width, 1), inputs, cells, hidden)
