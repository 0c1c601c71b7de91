"""The N-ary Tree-LSTM (Tai et al. 2015) over a forest, one autograd Function over all heights with its own backward.

Backward takes all nodes' local derivatives at once, then walks back through the heights, and the gradient of U is one
product at the end. It is differentiable once.

Notation: as in `forest`; n leaves, I = N - n inner nodes, A children each, H hidden units, G = 3 + A gates, or 2 + A
without an output gate.
"""

from __future__ import annotations

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
        sigmoid = gates[:, hidden:]
        for level, _ in forest.levels():
            here = slice(level.start - leaves, level.stop - leaves)
            children = slots[here].view(-1)
            h_t, c_t = below_h[here], below_c[here]
            torch.index_select(h, 0, children, out=h_t.view(-1, hidden))
            torch.index_select(c, 0, children, out=c_t.view(-1, hidden))
            torch.addmm(table[here] if len(table) > 1 else table, h_t, weight.T, out=gates[here])
            sigmoid[here].sigmoid_()
            u[here].tanh_()
            new = torch.mul(i[here], u[here], out=c[level])
            for k, one in enumerate(c_t.split(hidden, 1)):
                new.addcmul_(f[here, k], one)
            torch.tanh(new, out=tanh_c[here])
            if o is None:
                h[level] = tanh_c[here]
            else:
                torch.mul(o[here], tanh_c[here], out=h[level])
        ctx.forest, ctx.shared = forest, len(table) == 1
        ctx.save_for_backward(slots, weight, below_h, below_c, gates, tanh_c)
        return h[:nodes]

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor | None, ...]:
        slots, weight, below_h, below_c, gates, tanh_c = ctx.saved_tensors
        forest, (inner, arity), hidden = ctx.forest, slots.shape, tanh_c.shape[1]
        leaves = forest.leaves
        u, i, o, f = _gates(gates, hidden, arity)
        d_gates = torch.empty_like(gates)  # first the derivatives of c, and of h by o, by the sums in the gates
        d_u, d_i, d_o, d_f = _gates(d_gates, hidden, arity)
        sigmoid_backward.grad_input(u, i, grad_input=d_i)
        sigmoid_backward.grad_input(below_c.view(inner, arity, hidden), f, grad_input=d_f)
        tanh_backward.grad_input(i, u, grad_input=d_u)
        if o is None or d_o is None:
            h_by_c = tanh_backward(torch.ones_like(tanh_c), tanh_c)
        else:
            sigmoid_backward.grad_input(tanh_c, o, grad_input=d_o)
            h_by_c = tanh_backward(o, tanh_c)  # derivative of h by c
        d_h = torch.cat([d_states, d_states.new_zeros(1, hidden)])
        d_c = torch.zeros_like(d_h)
        d_ui = d_gates[:, : 2 * hidden].unflatten(1, (2, hidden))
        for level, _ in reversed(forest.levels()):
            here = slice(level.start - leaves, level.stop - leaves)
            children = slots[here].view(-1)
            d_h_t, d_c_t = d_h[level], d_c[level]
            d_c_t.addcmul_(d_h_t, h_by_c[here])
            d_ui[here].mul_(d_c_t[:, None])
            d_f[here].mul_(d_c_t[:, None])
            if d_o is not None:
                d_o[here].mul_(d_h_t)
            d_c.index_copy_(0, children, (f[here] * d_c_t[:, None]).view(-1, hidden))
            d_h.index_add_(0, children, (d_gates[here] @ weight).view(-1, hidden))
        d_table = d_gates.sum(0, keepdim=True) if ctx.shared else d_gates
        return None, None, d_h[:leaves], d_c[:leaves], d_table, d_gates.T @ below_h
