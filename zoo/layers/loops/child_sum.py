"""The Child-Sum Tree-LSTM (Tai et al. 2015) over a forest, one autograd Function over all heights with its own
backward.

Local derivatives are taken at once and the gradients of both matrices as one product each at the end, as in
`tree_lstm_loop`. It is differentiable once. Notation: as in `forest`; n leaves, I = N - n inner nodes, H hidden units,
G = 3 gates that a node has once, u, i and o, or 2 without an output gate.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.layers.loops.recurrent import outside_autocast, sigmoid_backward, tanh_backward
from zoo.layers.trees.forest import Forest
from zoo.layers.uncompiled import uncompiled


@uncompiled
def child_sum_tree_lstm(
    forest: Forest, table: Tensor, weight: Tensor, forget_table: Tensor, forget_weight: Tensor
) -> Tensor:
    """h (N, H) of all nodes, with the sum h~ of the children's h:

        u = tanh, i, o = sigmoid of table + U h~,  f_k = sigmoid(forget_table + U_f h_k) of each child k,
        c = i u + sum_k f_k c_k,  h = o tanh(c).

    `weight` (G H, H) is U, its gates in this order; without rows for o, h = tanh(c). `table` (N, G H) and
    `forget_table` (I, H), or (1, H) for all inner nodes, are the biases and what else a node reads. All in one
    dtype."""
    return _ChildSum.apply(forest, table, weight, forget_table, forget_weight)


class _ChildSum(torch.autograd.Function):
    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any, forest: Forest, table: Tensor, weight: Tensor, forget_table: Tensor, forget_weight: Tensor
    ) -> Tensor:
        nodes, leaves, hidden = len(forest), forest.leaves, weight.shape[1]
        owner = forest.parent - leaves  # (E,) the inner node of each edge
        gates = table.clone()
        u, i, *gate_o = gates.split(hidden, 1)
        o = gate_o[0] if gate_o else None
        h, c, tanh_c = table.new_empty(3, nodes, hidden)
        below_h, below_c, f = table.new_empty(3, len(owner), hidden)
        sums = table.new_zeros(nodes - leaves, hidden)  # h~
        if len(forget_table) > 1:
            torch.index_select(forget_table, 0, owner, out=f)
        for level, edges in [(slice(0, leaves), slice(0, 0)), *forest.levels()]:
            here = slice(level.start - leaves, level.stop - leaves)
            inner = level.start >= leaves
            if inner:
                children = forest.child[edges]
                h_t, c_t, f_t, local = below_h[edges], below_c[edges], f[edges], owner[edges] - here.start
                torch.index_select(h, 0, children, out=h_t)
                torch.index_select(c, 0, children, out=c_t)
                sums[here].index_add_(0, local, h_t)
                gates[level].addmm_(sums[here], weight.T)
                torch.addmm(f_t if len(forget_table) > 1 else forget_table, h_t, forget_weight.T, out=f_t).sigmoid_()
            gates[level, hidden:].sigmoid_()
            u[level].tanh_()
            new = torch.mul(i[level], u[level], out=c[level])
            if inner:
                new.index_add_(0, local, f_t * c_t)
            torch.tanh(new, out=tanh_c[level])
            if o is None:
                h[level] = tanh_c[level]
            else:
                torch.mul(o[level], tanh_c[level], out=h[level])
        ctx.forest, ctx.shared = forest, len(forget_table) == 1
        ctx.save_for_backward(owner, weight, forget_weight, gates, f, below_h, below_c, sums, tanh_c)
        return h

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor | None, ...]:
        owner, weight, forget_weight, gates, f, below_h, below_c, sums, tanh_c = ctx.saved_tensors
        forest, hidden = ctx.forest, weight.shape[1]
        leaves = forest.leaves
        u, i, *o = gates.split(hidden, 1)
        d_gates = torch.empty_like(gates)  # first the derivatives of c, and of h by o, by the sums in the gates
        d_u, d_i, *d_o = d_gates.split(hidden, 1)
        sigmoid_backward.grad_input(u, i, grad_input=d_i)
        tanh_backward.grad_input(i, u, grad_input=d_u)
        d_f = sigmoid_backward(below_c, f)
        if o:
            sigmoid_backward.grad_input(tanh_c, o[0], grad_input=d_o[0])
        h_by_c = tanh_backward(o[0] if o else torch.ones_like(tanh_c), tanh_c)  # derivative of h by c
        d_h, d_c = d_states.clone(), torch.zeros_like(d_states)
        for level, edges in [*reversed(forest.levels()), (slice(0, leaves), slice(0, 0))]:
            d_h_t, d_c_t = d_h[level], d_c[level]
            d_c_t.addcmul_(d_h_t, h_by_c[level])
            d_i[level].mul_(d_c_t)
            d_u[level].mul_(d_c_t)
            if o:
                d_o[0][level].mul_(d_h_t)
            if level.start >= leaves:
                children, local = forest.child[edges], owner[edges] - (level.start - leaves)
                d_new = d_c_t.index_select(0, local)  # the derivative by c of each child's parent
                d_f_t = d_f[edges].mul_(d_new)
                d_c.index_copy_(0, children, d_new.mul_(f[edges]))
                d_below = (d_gates[level] @ weight).index_select(0, local).addmm_(d_f_t, forget_weight)
                d_h.index_add_(0, children, d_below)
        d_weight, d_forget_weight = d_gates[leaves:].T @ sums, d_f.T @ below_h
        if ctx.shared:
            d_forget = d_f.sum(0, keepdim=True)
        else:
            d_forget = torch.zeros_like(sums).index_add_(0, owner, d_f)
        return None, d_gates, d_weight, d_forget, d_forget_weight
