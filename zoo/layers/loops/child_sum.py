"""The Child-Sum Tree-LSTM (Tai et al. 2015) over all heights of a forest.

Local derivatives are taken at once and the gradients of both matrices as one product each at the end, as in
`loops.tree_lstm`. Notation: as in `forest`; n leaves, I = N - n inner nodes, H hidden units,
G = 3 gates that a node has once, u, i and o, or 2 without an output gate.
"""

import torch
from torch import Tensor

from zoo.layers.loops.loop import Loop, sigmoid_backward, tanh_backward
from zoo.layers.trees.forest import Forest


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
        self.gates, self.f, self.below_h, self.below_c, self.sums, self.tanh_c = (
            gates,
            f,
            below_h,
            below_c,
            sums,
            tanh_c,
        )
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
