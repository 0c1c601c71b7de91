"""The decoder of See et al. 2017 over packed rows: an LSTM that reads the context of the step before, and attends by
its cell and its state.

Notation: as in `loops.attention`; H hidden units.
"""

from typing import Any

import torch
from torch import Tensor

from zoo.layers.loops.attention import AttendedSource, AttentionSteps, AttentionStepsBackward
from zoo.layers.loops.loop import Loop, LSTMSteps, LSTMStepsBackward


class PointerLSTM(Loop):
    """From (h, c) = `start`, (R, H) each, and the context m = 0 at each position:

        i, f, g, o = table + W [m; h],  c, h as in any LSTM,
        a = softmax of the scores of [c; h],  m = sum_s a_s value_s.

    `table` (N, 4H) is the part of the gates that comes from the token, biases included; `weight` (4H, D + H) is W; the
    values of `source` are D wide, and its `asks` multiply [c; h]. All in one dtype. Returns [c; h] (N, 2H), m (N, D)
    and the weights (N, S): the loss may read all of them.
    """

    def forward(
        self, table: Tensor, start: tuple[Tensor, Tensor], weight: Tensor, source: AttendedSource
    ) -> tuple[Tensor, Tensor, Tensor]:
        time_steps, attention = source.time_steps, AttentionSteps(source)
        positions, width, dim = len(table), start[0].shape[1], source.values.shape[2]
        gates, inputs = table.clone(), table.new_empty(positions, dim + width)  # [m; h] before each step
        states, means = table.new_empty(positions, 2 * width), table.new_empty(positions, dim)
        asked = table.new_empty(positions, len(source.asks))
        lstm = LSTMSteps(time_steps, gates, *states.split(width, 1))
        (h, c), m = start, start[0].new_zeros(len(start[0]), dim)
        parts = time_steps.steps(gates, inputs, *inputs.split([dim, width], 1), states, means, asked)
        for t, (gates_t, inputs_t, m_t, h_t, states_t, mean_t, asked_t) in enumerate(parts):
            size = len(gates_t)
            m_t.copy_(m[:size])
            h_t.copy_(h[:size])
            gates_t.addmm_(inputs_t, weight.T)
            h, c = lstm.forward(t, c[:size])
            torch.mm(states_t, source.asks.T, out=asked_t)
            m = mean_t.copy_(attention.forward(t, asked_t, h))
        self.start_c, self.weight, self.source, self.attention = start[1], weight, source, attention.saved
        self.gates, self.inputs, self.states, self.asked = gates, inputs, states, asked
        return states.clone(), means, attention.weights[:, 0].clone()

    def backward(self, d_states: Tensor, d_means: Tensor, d_weights: Tensor) -> tuple[Any, ...]:
        source, time_steps, states = self.source, self.source.time_steps, self.states
        width, dim = self.start_c.shape[1], source.values.shape[2]
        attention = AttentionStepsBackward(source, self.attention, self.asked, states, d_weights)
        cells = states[:, :width]
        d_gates, d_asked, d_mean = (torch.empty_like(part) for part in (self.gates, self.asked, d_means))
        lstm = LSTMStepsBackward(time_steps, self.gates, time_steps.previous(self.start_c, cells), cells, d_gates)
        carry_m = d_means.new_zeros(len(self.start_c), dim)  # of each row's m, h and c, from its end on
        carry_h, carry_c = torch.zeros_like(self.start_c), torch.zeros_like(self.start_c)
        parts = time_steps.steps(d_states, d_means, d_asked, d_mean)
        for t in reversed(range(len(parts))):
            d_states_t, d_means_t, d_asked_t, d_mean_t = parts[t]
            size = len(d_means_t)
            torch.add(carry_m[:size], d_means_t, out=d_mean_t)
            attention.backward(t, d_mean_t, d_asked_t)
            d_c, d_h = torch.addmm(d_states_t, d_asked_t, source.asks).split(width, 1)
            d_gates_t = lstm.backward(t, carry_h[:size].add_(d_h), carry_c[:size].add_(d_c))
            d_m, d_h = (d_gates_t @ self.weight).split([dim, width], 1)
            carry_m[:size].copy_(d_m)
            carry_h[:size].copy_(d_h)
        d_weight, d_asks = d_gates.T @ self.inputs, d_asked.T @ states
        return d_gates, (carry_h, carry_c), d_weight, attention.finish(d_mean, d_asks)
