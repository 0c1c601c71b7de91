"""The N-ary and the Child-Sum Tree-LSTM (Tai et al. 2015) over all heights of a forest.

The backward pass computes the local derivatives of all nodes at once, and visits the heights from the roots down. The
gradient of each matrix is one product at the end. In the N-ary network each node reads the gradient that its parent
wrote: reading rows is several times cheaper than adding to them.

Notation: as in `forest`; n leaves, I = N - n inner nodes, A children each, H hidden units, L different leaves. G gates:
u, i, o and A forget gates in the N-ary network, u, i and o in the other; one fewer without an output gate.
"""

from itertools import repeat

import torch
from torch import Tensor

from zoo.layers.loops.loop import Loop, sigmoid_backward, tanh_backward, uncompiled
from zoo.layers.trees.forest import Forest


@uncompiled
def tree_lstm(forest: Forest, leaves: tuple[Tensor, Tensor], at: Tensor, table: Tensor, weight: Tensor) -> Tensor:
    """h (N, H) of all nodes, from h and c of the leaves, rows `at` (n,) of the two `leaves` (L, H):

        u = tanh, i, o, f_1 ... f_A = sigmoid of table + U [h_1 ... h_A],
        c = i u + f_1 c_1 + ... + f_A c_A,  h = o tanh(c),

    where a missing child has h = c = 0. `weight` (G H, A H) is U, its gates in this order; without rows
    for o, h = tanh(c). `table` (I, G H), or (1, G H) for all inner nodes, is the biases and what else a node reads. All
    in one dtype.
    """
    arity = weight.shape[1] // leaves[0].shape[1]
    return _TreeLSTM(forest, forest.slots(arity), forest.above(arity), at)(leaves, table, weight)


def _gates(gates: Tensor, hidden: int, arity: int) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    """u, i, o (..., H) and f (..., A, H) of all gates (..., G H)."""
    u, i, *o = gates[:, : -arity * hidden].split(hidden, 1)
    return u, i, o[0] if o else None, gates[:, -arity * hidden :].unflatten(1, (arity, hidden))


class _TreeLSTM(Loop):
    def __init__(self, forest: Forest, slots: Tensor, above: Tensor, at: Tensor) -> None:
        self.forest, self.slots, self.above, self.at = forest, slots, above, at

    def forward(self, leaf_states: tuple[Tensor, Tensor], table: Tensor, weight: Tensor) -> Tensor:
        forest, slots, (different, hidden) = self.forest, self.slots, leaf_states[0].shape
        nodes, leaves, (inner, arity) = len(forest), forest.leaves, slots.shape
        states = table.new_empty(2, nodes + 1, hidden)
        states[:, nodes].zero_()  # of a missing child
        h, c = states
        for given, found in zip(leaf_states, states, strict=True):
            torch.index_select(given, 0, self.at, out=found[:leaves])
        gates, tanh_c = h.new_empty(inner, weight.shape[0]), h.new_empty(inner, hidden)
        u, i, o, f = _gates(gates, hidden, arity)
        shared = len(table) == 1
        sizes = forest.sizes[1:]
        steps = zip(
            slots.view(-1).split([arity * size for size in sizes]),
            *(part.split(sizes) for part in (gates, gates[:, hidden:], u, i, tanh_c)),
            zip(*(part.split(sizes) for part in f.unbind(1)), strict=True),
            *(part[leaves:nodes].split(sizes) for part in (c, h)),
            repeat(table, len(sizes)) if shared else table.split(sizes),
            repeat(None, len(sizes)) if o is None else o.split(sizes),
            strict=True,
        )
        up = weight.T.contiguous()  # MKL multiplies few rows by it a third faster
        for children, gates_t, sigmoid_t, u_t, i_t, tanh_t, f_t, new_c, new_h, table_t, o_t in steps:
            below_h, below_c = states.index_select(1, children).view(2, -1, arity * hidden).unbind()
            torch.addmm(table_t, below_h, up, out=gates_t)
            sigmoid_t.sigmoid_()
            u_t.tanh_()
            torch.mul(i_t, u_t, out=new_c)
            for f_k, c_k in zip(f_t, below_c.split(hidden, 1), strict=True):
                new_c.addcmul_(f_k, c_k)
            torch.tanh(new_c, out=tanh_t)
            if o_t is None:
                new_h.copy_(tanh_t)
            else:
                torch.mul(o_t, tanh_t, out=new_h)
        self.shared, self.different, self.weight = shared, different, weight
        self.states, self.gates, self.tanh_c = states, gates, tanh_c
        return h[:nodes]

    def backward(self, d_states: Tensor) -> tuple[Tensor | tuple[Tensor, ...], ...]:
        forest, gates, tanh_c, above = self.forest, self.gates, self.tanh_c, self.above
        (inner, arity), hidden = self.slots.shape, tanh_c.shape[1]
        leaves, slots, (h, c) = forest.leaves, self.slots.view(-1), self.states
        u, i, o, f = _gates(gates, hidden, arity)
        d_gates = torch.empty_like(gates)  # first the derivatives of c, and of h by o, by the sums in the gates
        d_u, d_i, d_o, d_f = _gates(d_gates, hidden, arity)
        tanh_backward.grad_input(i, u, grad_input=d_u)
        sigmoid_backward.grad_input(u, i, grad_input=d_i)
        sigmoid_backward.grad_input(c.index_select(0, slots).view(inner, arity, hidden), f, grad_input=d_f)
        if o is None or d_o is None:
            h_by_c = tanh_backward(torch.ones_like(tanh_c), tanh_c)
        else:
            sigmoid_backward.grad_input(tanh_c, o, grad_input=d_o)
            h_by_c = tanh_backward(o, tanh_c)  # derivative of h by c
        # One row per child of a node, missing children included, then one per root.
        rows = torch.cat([slots.clamp(max=len(forest) - 1), forest.root])
        d_below = h.new_zeros(2, len(rows), hidden)
        d_h, d_c = d_below
        torch.index_select(d_states, 0, rows, out=d_h)
        sizes, inner_rows = forest.sizes[1:], slice(0, inner * arity)
        steps = list(
            zip(
                above[leaves:].split(sizes),
                *(part.split(sizes) for part in (d_gates, d_gates[:, : 2 * hidden].unflatten(1, (2, hidden)), d_f, f)),
                h_by_c.split(sizes),
                repeat(None, len(sizes)) if d_o is None else d_o.split(sizes),
                d_h[inner_rows].view(inner, arity * hidden).split(sizes),
                d_c[inner_rows].view(inner, arity, hidden).split(sizes),
                strict=True,
            )
        )
        for above_t, d_gates_t, d_ui_t, d_f_t, f_t, h_by_c_t, d_o_t, below_h, below_c in reversed(steps):
            d_h_t, d_c_t = d_below.index_select(1, above_t).unbind()
            d_c_t.addcmul_(d_h_t, h_by_c_t)
            d_c_each = d_c_t[:, None]
            d_ui_t.mul_(d_c_each)
            d_f_t.mul_(d_c_each)
            if d_o_t is not None:
                d_o_t.mul_(d_h_t)
            torch.mul(f_t, d_c_each, out=below_c)
            below_h.addmm_(d_gates_t, self.weight)
        d_leaves = (
            h.new_zeros(self.different, hidden).index_add_(0, self.at, part.index_select(0, above[:leaves]))
            for part in (d_h, d_c)
        )
        d_table = d_gates.sum(0, keepdim=True) if self.shared else d_gates
        d_weight = d_gates.T @ h.index_select(0, slots).view(inner, arity * hidden)
        return tuple(d_leaves), d_table, d_weight


class ChildSumTreeLSTM(Loop):
    """h (N, H) of all nodes, with the sum h~ of the children's h:

        u = tanh, i, o = sigmoid of table + U h~,  f_k = sigmoid(forget_table + U_f h_k) of each child k,
        c = i u + sum_k f_k c_k,  h = o tanh(c).

    `weight` (G H, H) is U, its gates in this order; without rows for o, h = tanh(c). `table` (N, G H) and
    `forget_table` (I, H), or (1, H) for all inner nodes, are the biases and what else a node reads. All in one
    dtype."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest

    def forward(self, table: Tensor, weight: Tensor, forget_table: Tensor, forget_weight: Tensor) -> Tensor:
        forest, shared = self.forest, len(forget_table) == 1
        nodes, leaves, hidden = len(forest), forest.leaves, weight.shape[1]
        owner = forest.parent - leaves  # (E,) the inner node of each edge
        gates = table.clone()
        u, i, *gate_o = gates.split(hidden, 1)
        o = gate_o[0] if gate_o else None
        h, c, tanh_c = table.new_empty(3, nodes, hidden)
        below_h, below_c, f = table.new_empty(3, len(owner), hidden)
        sums = table.new_zeros(nodes - leaves, hidden)  # h~
        if not shared:
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
                torch.addmm(forget_table if shared else f_t, h_t, forget_weight.T, out=f_t).sigmoid_()
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
        self.owner, self.weight, self.forget_weight, self.shared = owner, weight, forget_weight, shared
        self.gates, self.f, self.tanh_c = gates, f, tanh_c
        self.below_h, self.below_c, self.sums = below_h, below_c, sums
        return h

    def backward(self, d_states: Tensor) -> tuple[Tensor, ...]:
        forest, owner, hidden = self.forest, self.owner, self.weight.shape[1]
        gates, f, tanh_c = self.gates, self.f, self.tanh_c
        leaves = forest.leaves
        u, i, *o = gates.split(hidden, 1)
        d_gates = torch.empty_like(gates)  # first the derivatives of c, and of h by o, by the sums in the gates
        d_u, d_i, *d_o = d_gates.split(hidden, 1)
        sigmoid_backward.grad_input(u, i, grad_input=d_i)
        tanh_backward.grad_input(i, u, grad_input=d_u)
        d_f = sigmoid_backward(self.below_c, f)
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
                d_below = (d_gates[level] @ self.weight).index_select(0, local).addmm_(d_f_t, self.forget_weight)
                d_h.index_add_(0, children, d_below)
        d_weight, d_forget_weight = d_gates[leaves:].T @ self.sums, d_f.T @ self.below_h
        if self.shared:
            d_forget = d_f.sum(0, keepdim=True)
        else:
            d_forget = torch.zeros_like(self.sums).index_add_(0, owner, d_f)
        return d_gates, d_weight, d_forget, d_forget_weight
