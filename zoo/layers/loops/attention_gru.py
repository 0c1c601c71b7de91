"""The GRU that attends to the source before each step (Bahdanau et al. 2015), over packed rows.

Notation: as in `loops.attention`.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from zoo.layers.loops.attention import AttendedSource, AttentionSteps, AttentionStepsBackward
from zoo.layers.loops.loop import Loop, sigmoid_backward, tanh_backward


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
