"""Stacked LSTMs with input feeding (Luong et al. 2015), over packed rows.

Notation: as in `loops.attention`; L layers, H hidden units.
"""

from typing import Any

import torch
from torch import Tensor

from zoo.layers.loops.attention import AttendedSource, AttentionSteps, AttentionStepsBackward
from zoo.layers.loops.loop import Loop, LSTMSteps, LSTMStepsBackward, tanh_backward


class AttentionLSTM(Loop):
    """From (h, c) = `start`, (L, R, H) each, and f = 0 at each position, with a = softmax of the scores of h_L:

        i, f, g, o = W_x x + W_h h + b,  c, h as in any LSTM, in each layer, where x is f or the h of the layer below;
        f' = tanh(sum_s a_s value_s + W_f h_L),  which is fed to the next step.

    `table` (N, 4H) is b of the lowest layer and what else it reads, `biases` (L - 1, 4H) those of the others. `weights`
    (L, 4H, 2H) are [W_x W_h], `readout` (H, H) is W_f, and the values of `source` are H wide. `drops` (L, N, H) are the
    factors of dropout, 0 or 1 / (1 - p), on the output of each layer and, the last of them, on the fed vector. All in
    one dtype. Returns f' (N, H), before its dropout, and the weights (N, S): the loss may read both.
    """

    def forward(
        self,
        table: Tensor,
        start: tuple[Tensor, Tensor],
        weights: Tensor,
        biases: Tensor,
        readout: Tensor,
        source: AttendedSource,
        drops: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        time_steps, attention = source.time_steps, AttentionSteps(source)
        layers, _, width = start[0].shape
        positions, asked = len(table), len(source.asks)
        of_top = torch.cat([source.asks, readout])
        # (L, N, 4H), overwritten step by step with i, f, g, o
        gates = torch.cat([table[None], biases[:, None].expand(-1, positions, -1)])
        inputs = table.new_empty(layers, positions, 2 * width)  # [x; h]
        cells, hidden = table.new_empty(2, layers, positions, width)
        sums = table.new_empty(positions, asked + width)  # the products with `asks`, and W_f h_L
        output = table.new_empty(positions, width)
        stacks = [time_steps.steps(gates[k], inputs[k], *inputs[k].split(width, 1)) for k in range(layers)]
        lstms = [LSTMSteps(time_steps, gates[k], cells[k], hidden[k]) for k in range(layers)]
        drop = [] if drops is None else [part.split(time_steps.sizes) for part in drops]
        h, c = map(list, start)
        below = start[0].new_zeros(start[0].shape[1:])
        for t, (sums_t, output_t) in enumerate(time_steps.steps(sums, output)):
            size = len(output_t)
            for k in range(layers):
                gates_t, inputs_t, x_t, h_t = stacks[k][t]
                x_t.copy_(below[:size])
                h_t.copy_(h[k][:size])
                gates_t.addmm_(inputs_t, weights[k].T)
                h[k], c[k] = lstms[k].forward(t, c[k][:size])
                below = h[k] * drop[k][t] if drop and k < layers - 1 else h[k]
            torch.mm(below, of_top.T, out=sums_t)
            mean = attention.forward(t, sums_t[:, :asked], below)
            torch.add(sums_t[:, asked:], mean, out=output_t).tanh_()
            below = output_t * drop[-1][t] if drop else output_t
        self.start_c, self.weights, self.readout, self.drops = start[1], weights, readout, drops
        self.source, self.attention = source, attention.saved
        self.gates, self.inputs, self.cells, self.hidden, self.sums, self.output = (
            gates, inputs, cells, hidden, sums, output
        )  # fmt: skip
        return output.clone(), attention.weights[:, 0].clone()

    def backward(self, d_output: Tensor, d_weights: Tensor) -> tuple[Any, ...]:
        source, time_steps, sums, hidden = self.source, self.source.time_steps, self.sums, self.hidden
        layers, _, width = hidden.shape
        asked = len(source.asks)
        attention = AttentionStepsBackward(source, self.attention, sums[:, :asked], hidden[-1], d_weights)
        of_top = torch.cat([source.asks, self.readout])
        before = torch.stack([time_steps.previous(*pair) for pair in zip(self.start_c, self.cells, strict=True)])
        d_gates = torch.empty_like(self.gates)
        layered = zip(self.gates, before, self.cells, d_gates, strict=True)
        lstms = [LSTMStepsBackward(time_steps, *layer) for layer in layered]
        drop = [] if self.drops is None else [part.split(time_steps.sizes) for part in self.drops]
        d_sums = torch.empty_like(sums)
        tops = time_steps.steps(d_sums, *d_sums.split([asked, width], 1), self.output, d_output)
        # of each row's state, from its end on
        carry_h, carry_c = torch.zeros_like(self.start_c), torch.zeros_like(self.start_c)
        carry_f = torch.zeros_like(self.start_c[0])
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
                d_gates_t = lstms[k].backward(t, carry_h[k, :size].add_(below), carry_c[k, :size])
                below, d_h = (d_gates_t @ self.weights[k]).split(width, 1)
                carry_h[k, :size].copy_(d_h)
                if drop and k:
                    below = below * drop[k - 1][t]
            carry_f[:size].copy_(below)
        d_matrices = torch.bmm(d_gates.transpose(1, 2), self.inputs)
        d_asks, d_readout = (d_sums.T @ hidden[-1]).split([asked, width])
        d_source = attention.finish(d_sums[:, asked:], d_asks)
        return d_gates[0], (carry_h, carry_c), d_matrices, d_gates[1:].sum(1), d_readout, d_source, None
