"""The N-ary Tree-LSTM (Tai et al. 2015) over a forest, one autograd Function over all heights with its own backward.

Backward takes all nodes' local derivatives at once, then walks back through the heights, and the gradient of U is one
product at the end. It is differentiable once.

Notation: as in `forest`; n leaves, I = N - n inner nodes, A children each, H hidden units, G = 3 + A gates, or 2 + A
without an output gate.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.layers.forest import Forest
from zoo.layers.loops import outside_autocast, sigmoid_backward, tanh_backward


@torch.compiler.disable
def tree_lstm(forest: Forest, leaves: tuple[Tensor, Tensor], table: Tensor, weight: Tensor) -> Tensor:
    """h (N, H) of all nodes, from h and c of the leaves, (n, H) each:

        u = tanh, i, o, f_1 ... f_A = sigmoid of table + U [h_1 ... h_A],
        c = i u + f_1 c_1 + ... + f_A c_A,  h = o tanh(c),

    where a child that is missing has h and c of zero. `weight` (G H, A H) is U, its gates in this order; without rows
    for o, h = tanh(c). `table` (I, G H), or (1, G H) for all inner nodes, is the biases and what else a node reads. All
    in one dtype.
    """
    hidden = leaves[0].shape[1]
    slots = forest.slots(weight.shape[1] // hidden)
    return _TreeLSTM.apply(forest, slots, *leaves, table, weight)


def _gates(gates: Tensor, hidden: int, arity: int) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    """u, i, o (..., H) and f (..., A, H) of all gates (..., G H)."""
    u, i, *o = gates[:, : -arity * hidden].split(hidden, 1)
    return u, i, o[0] if o else None, gates[:, -arity * hidden :].unflatten(1, (arity, hidden))


class _TreeLSTM(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any, forest: Forest, slots: Tensor, leaf_h: Tensor, leaf_c: Tensor, table: Tensor, weight: Tensor
    ) -> Tensor:
        nodes, leaves, (inner, arity), hidden = len(forest), forest.leaves, slots.shape, leaf_h.shape[1]
        h, c = leaf_h.new_zeros(2, nodes + 1, hidden)  # and the child that is missing
        h[:leaves], c[:leaves] = leaf_h, leaf_c
        below_h, below_c = h.new_empty(2, inner, arity * hidden)
        gates, tanh_c = h.new_empty(inner, weight.shape[0]), h.new_empty(inner, hidden)
        u, i, o, f = _gates(gates, hidden, arity)
        shared = len(table) == 1
        sizes, flat = forest.sizes[1:], [arity * size for size in forest.sizes[1:]]
        steps = zip(
            slots.view(-1).split(flat),
            *(below.view(-1, hidden).split(flat) for below in (below_h, below_c)),
            *(part.split(sizes) for part in (below_h, gates, gates[:, hidden:], u, i)),
            *(part[leaves:nodes].split(sizes) for part in (c, h)),
            tanh_c.split(sizes),
            zip(*(part.split(sizes) for part in below_c.split(hidden, 1)), strict=True),
            zip(*(part.split(sizes) for part in f.unbind(1)), strict=True),
            repeat(table, len(sizes)) if shared else table.split(sizes),
            repeat(None, len(sizes)) if o is None else o.split(sizes),
            strict=True,
        )
        for children, h_k, c_k, h_t, gates_t, sigmoid_t, u_t, i_t, new_c, new_h, tanh_t, cs, fs, table_t, o_t in steps:
            torch.index_select(h, 0, children, out=h_k)
            torch.index_select(c, 0, children, out=c_k)
            torch.addmm(table_t, h_t, weight.T, out=gates_t)
            sigmoid_t.sigmoid_()
            u_t.tanh_()
            torch.mul(i_t, u_t, out=new_c)
            for f_k, one in zip(fs, cs, strict=True):
                new_c.addcmul_(f_k, one)
            torch.tanh(new_c, out=tanh_t)
            if o_t is None:
                new_h.copy_(tanh_t)
            else:
                torch.mul(o_t, tanh_t, out=new_h)
        ctx.forest, ctx.shared = forest, shared
        ctx.save_for_backward(slots, weight, below_h, below_c, gates, tanh_c)
        return h[:nodes]

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor | None, ...]:
        slots, weight, below_h, below_c, gates, tanh_c = ctx.saved_tensors
        forest, (inner, arity), hidden = ctx.forest, slots.shape, tanh_c.shape[1]
        nodes, leaves = len(forest), forest.leaves
        u, i, o, f = _gates(gates, hidden, arity)
        d_gates = torch.empty_like(gates)  # first the derivatives of c, and of h by o, by the sums in the gates
        d_u, d_i, d_o, d_f = _gates(d_gates, hidden, arity)
        tanh_backward.grad_input(i, u, grad_input=d_u)
        sigmoid_backward.grad_input(u, i, grad_input=d_i)
        sigmoid_backward.grad_input(below_c.view(inner, arity, hidden), f, grad_input=d_f)
        if o is None or d_o is None:
            h_by_c = tanh_backward(torch.ones_like(tanh_c), tanh_c)
        else:
            sigmoid_backward.grad_input(tanh_c, o, grad_input=d_o)
            h_by_c = tanh_backward(o, tanh_c)  # derivative of h by c
        d_h = torch.cat([d_states, d_states.new_zeros(1, hidden)])
        d_c = torch.zeros_like(d_h)
        sizes, flat = forest.sizes[1:], [arity * size for size in forest.sizes[1:]]
        steps = list(
            zip(
                slots.view(-1).split(flat),
                *(part[leaves:nodes].split(sizes) for part in (d_h, d_c, d_c[:, None])),
                *(part.split(sizes) for part in (d_gates, d_gates[:, : 2 * hidden].unflatten(1, (2, hidden)), d_f, f)),
                h_by_c.split(sizes),
                repeat(None, len(sizes)) if d_o is None else d_o.split(sizes),
                strict=True,
            )
        )
        for children, d_h_t, d_c_t, d_c_each, d_gates_t, d_ui_t, d_f_t, f_t, h_by_c_t, d_o_t in reversed(steps):
            d_c_t.addcmul_(d_h_t, h_by_c_t)
            d_ui_t.mul_(d_c_each)
            d_f_t.mul_(d_c_each)
            if d_o_t is not None:
                d_o_t.mul_(d_h_t)
            d_c.index_copy_(0, children, (f_t * d_c_each).view(-1, hidden))
            d_h.index_add_(0, children, (d_gates_t @ weight).view(-1, hidden))
        d_table = d_gates.sum(0, keepdim=True) if ctx.shared else d_gates
        return None, None, d_h[:leaves], d_c[:leaves], d_table, d_gates.T @ below_h
