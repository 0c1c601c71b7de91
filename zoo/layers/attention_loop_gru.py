"""The GRU that looks at the source before each step (Bahdanau et al. 2015), over packed rows with its own backward.

It is differentiable once.

Notation: as in `attention_loop`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from zoo.layers.attention_loop import Looks, LooksBack, Rows, View
from zoo.layers.loops import outside_autocast, sigmoid_backward, tanh_backward


@torch.compiler.disable
def attention_gru(table: Tensor, start: Tensor, weight: Tensor, view: View, rows: Rows) -> tuple[Tensor, Tensor]:
    """From s = `start` (R, H), at each position with the weights a that s gives and m = sum_j a_j value_j:

        r, z = sigmoid(x_rz + U_rz s + m_rz);  n = tanh(x_n + U_n (r s) + m_n);  s' = (1 - z) s + z n.

    `table` (N, 3H) holds x_r, x_z, x_n, biases included; `weight` (3H, H) is U; the values of `view` are 3H wide. All
    in one dtype. Returns the state s that each position began with, (N, H), and the weights (N, S): the loss may read
    both.
    """
    keys, values, bias, somewhere, asks, v, place, length, reach, unit = view
    return _AttentionGRU.apply(
        table, start, weight, keys, values, asks, v, place, bias, somewhere, length, (reach, unit), rows
    )


class _AttentionGRU(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any,
        table: Tensor,
        start: Tensor,
        weight: Tensor,
        keys: Tensor,
        values: Tensor,
        asks: Tensor,
        v: Tensor | None,
        place: Tensor | None,
        bias: Tensor,
        somewhere: Tensor,
        length: Tensor,
        settings: tuple[int, bool],
        rows: Rows,
    ) -> tuple[Tensor, Tensor]:
        looks = Looks(View(keys, values, bias, somewhere, asks, v, place, length, *settings), rows)
        width, asked = start.shape[1], len(asks)
        u_rz, u_n = weight.split([2 * width, width])
        of_state = torch.cat([asks, u_rz])
        sums = F.pad(table, (asked, 0))  # what was asked, and overwritten step by step with r, z, n
        previous = table.new_empty(len(table), width)
        parts = sums.split([asked, width, width, width], 1)
        blocks = (sums[:, :-width], sums[:, asked:], sums[:, asked:-width])
        s = start
        for t, (s_t, asked_t, r_t, z_t, n_t, arz_t, rzn_t, rz_t) in enumerate(rows.steps(previous, *parts, *blocks)):
            s = s_t.copy_(s[: len(s_t)])
            arz_t.addmm_(s, of_state.T)
            rzn_t.add_(looks.forward(t, asked_t, s))
            rz_t.sigmoid_()
            n_t.addmm_(r_t * s, u_n.T).tanh_()
            s = torch.lerp(s, n_t, z_t)
        ctx.save_for_backward(
            weight, keys, values, asks, v, place, bias, somewhere, length, sums, previous, *looks.saved
        )
        ctx.settings, ctx.rows = settings, rows
        return previous.clone(), looks.weights[:, 0].clone()

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_previous: Tensor, d_weights: Tensor) -> tuple[Tensor | None, ...]:
        weight, keys, values, asks, v, place, bias, somewhere, length, sums, previous, *saved = ctx.saved_tensors
        rows: Rows = ctx.rows
        width, asked = previous.shape[1], len(asks)
        view = View(keys, values, bias, somewhere, asks, v, place, length, *ctx.settings)
        looks = LooksBack(Looks(view, rows, saved), sums[:, :asked], previous, d_weights)
        u_rz, u_n = weight.split([2 * width, width])
        of_state = torch.cat([asks, u_rz])
        _, r, z, n = sums.split([asked, width, width, width], 1)
        d_sums = torch.empty_like(sums)  # first the derivatives of s' by the sums in z, n, and of r s by that in r
        d_asked, d_r, d_z, d_n = d_sums.split([asked, width, width, width], 1)
        d_arz, d_rzn, d_zn = d_sums[:, :-width], d_sums[:, asked:], d_sums[:, asked + width :].unflatten(1, (2, width))
        sigmoid_backward.grad_input(previous, r, grad_input=d_r)
        sigmoid_backward.grad_input(n - previous, z, grad_input=d_z)
        tanh_backward.grad_input(z, n, grad_input=d_n)
        carry = previous.new_zeros(max(rows.sizes, default=0), width)  # gradient of s'; a row joins at its last step
        steps = rows.steps(r, 1 - z, d_previous, d_asked, d_r, d_n, d_arz, d_rzn, d_zn)
        for t in reversed(range(len(steps))):
            r_t, kept_t, d_previous_t, d_asked_t, d_r_t, d_n_t, d_arz_t, d_rzn_t, d_zn_t = steps[t]
            d = carry[: len(r_t)]
            d_zn_t.mul_(d[:, None])
            d_reset = d_n_t @ u_n  # gradient of r s
            d_r_t.mul_(d_reset)
            d.mul_(kept_t).addcmul_(r_t, d_reset).add_(d_previous_t)
            d_state = looks.backward(t, d_rzn_t, d_asked_t)
            if d_state is not None:
                d.add_(d_state)
            d.addmm_(d_arz_t, of_state)
        d_asks, d_rz_weight = (d_arz.T @ previous).split([asked, 2 * width])
        d_weight = torch.cat([d_rz_weight, d_n.T @ (r * previous)])
        d_keys, d_values, d_v, d_place = looks.finish(sums[:, :asked], d_rzn)
        return d_rzn, carry, d_weight, d_keys, d_values, d_asks, d_v, d_place, None, None, None, None, None
