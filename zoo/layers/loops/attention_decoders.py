"""Decoders that attend to the source at each step, over packed rows: the GRU of Bahdanau et al. 2015 and the stacked
LSTMs with input feeding of Luong et al. 2015.

Notation: as in `loops.attention`; L layers, H hidden units.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from zoo.layers.loops.attention import AttendedSource, AttentionSteps, AttentionStepsBackward
from zoo.layers.loops.loop import Loop, LSTMSteps, LSTMStepsBackward, sigmoid_backward, tanh_backward


class AttentionGRU(Loop):
    """Starting from s = `start` (R, H), each position computes the weights a from s, m = sum_j a_j value_j, and then:

        r, z = sigmoid(x_rz + U_rz s + m_rz);  n = tanh(x_n + U_n (r s) + m_n);  s' = (1 - z) s + z n.

    `table` (N, 3H) holds x_r, x_z, x_n, biases included; `weight` (3H, H) is U; the values of `source` are 3H wide. All
    in one dtype. Returns the state s that each position began with, (N, H), and the weights (N, S): the loss may read
    both.
    """

    def forward(self, table: Tensor, start: Tensor, weight: Tensor, source: AttendedSource) -> tuple[Tensor, Tensor]:
        attention = AttentionSteps(source)
        width, asked = start.shape[1], len(source.asks)
        u_rz, u_n = weight.split([2 * width, width])
        of_state = torch.cat([source.asks, u_rz])
        sums = F.pad(table, (asked, 0))  # (N, A' + 3H) the products with `asks`; overwritten step by step with r, z, n
        previous = table.new_empty(len(table), width)  # (N, H) the state that each position began with
        parts = sums.split([asked, width, width, width], 1)
        blocks = (sums[:, :-width], sums[:, asked:], sums[:, asked:-width])
        s = start
        steps = source.time_steps.steps(previous, *parts, *blocks)
        for t, (s_t, asked_t, r_t, z_t, n_t, arz_t, rzn_t, rz_t) in enumerate(steps):
            s = s_t.copy_(s[: len(s_t)])
            arz_t.addmm_(s, of_state.T)
            rzn_t.add_(attention.forward(t, asked_t, s))
            rz_t.sigmoid_()
            n_t.addmm_(r_t * s, u_n.T).tanh_()
            s = torch.lerp(s, n_t, z_t)
        self.weight, self.source, self.saved, self.sums, self.previous = weight, source, attention.saved, sums, previous
        return previous.clone(), attention.weights[:, 0].clone()

    def backward(self, d_previous: Tensor, d_weights: Tensor) -> tuple[Any, ...]:
        source, sums, previous = self.source, self.sums, self.previous
        width, asked = previous.shape[1], len(source.asks)
        attention = AttentionStepsBackward(source, self.saved, sums[:, :asked], previous, d_weights)
        u_rz, u_n = self.weight.split([2 * width, width])
        of_state = torch.cat([source.asks, u_rz])
        _, r, z, n = sums.split([asked, width, width, width], 1)
        d_sums = torch.empty_like(sums)  # first the derivatives of s' by the sums in z, n, and of r s by that in r
        d_asked, d_r, d_z, d_n = d_sums.split([asked, width, width, width], 1)
        d_arz, d_rzn, d_zn = d_sums[:, :-width], d_sums[:, asked:], d_sums[:, asked + width :].unflatten(1, (2, width))
        sigmoid_backward.grad_input(previous, r, grad_input=d_r)
        sigmoid_backward.grad_input(n - previous, z, grad_input=d_z)
        tanh_backward.grad_input(z, n, grad_input=d_n)
        carry = previous.new_zeros(len(source.keys), width)  # gradient of s'; a row joins at its last step
        steps = source.time_steps.steps(r, 1 - z, d_previous, d_asked, d_r, d_n, d_arz, d_rzn, d_zn)
        for t in reversed(range(len(steps))):
            r_t, kept_t, d_previous_t, d_asked_t, d_r_t, d_n_t, d_arz_t, d_rzn_t, d_zn_t = steps[t]
            d = carry[: len(r_t)]
            d_zn_t.mul_(d[:, None])
            d_reset = d_n_t @ u_n  # gradient of r s
            d_r_t.mul_(d_reset)
            d.mul_(kept_t).addcmul_(r_t, d_reset).add_(d_previous_t)
            d_state = attention.backward(t, d_rzn_t, d_asked_t)
            if d_state is not None:
                d.add_(d_state)
            d.addmm_(d_arz_t, of_state)
        d_asks, d_rz_weight = (d_arz.T @ previous).split([asked, 2 * width])
        d_weight = torch.cat([d_rz_weight, d_n.T @ (r * previous)])
        return d_rzn, carry, d_weight, attention.finish(d_rzn, d_asks)


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
        self.gates, self.inputs, self.cells = gates, inputs, cells
        self.hidden, self.sums, self.output = hidden, sums, output
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
