"""The time loops of GRU and LSTM over packed rows: one autograd Function over the whole sequence for each form.

Both directions advance in the same batched product, the backward one reading its rows mirrored. Backward takes all
steps' local derivatives at once, then walks back through time, and each recurrent weight's gradient is one product at
the end. (Autograd through torch's packed kernel fills a tensor of full size at every time step: quadratic in the
length.) A loop is differentiable once: asking for the gradient of a gradient raises.

Notation: N packed positions, U distinct input rows, D directions (1 or 2), H hidden_size, R rows that are not empty.
A packed tensor of both directions is (N, D, ...) outside the loop and (D, N, ...) inside it, where position n of the
backward direction is `packing.flip[n]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from zoo.layers.packing import Packing

tanh_backward = torch.ops.aten.tanh_backward  # (gradient, tanh) -> gradient * (1 - tanh^2)
sigmoid_backward = torch.ops.aten.sigmoid_backward  # (gradient, sigmoid) -> gradient * sigmoid * (1 - sigmoid)


class Walk(NamedTuple):
    """The order in which the loop visits the packed positions, and the rows of its input."""

    sizes: tuple[int, ...]
    """Rows at each time step."""
    last: Tensor
    """(R,) the last position of each row, equal in both directions."""
    inward: Tensor | None
    """(D*N,) the row of (N, D, ...) for each row of (D, N, ...); None with one direction, where both are equal."""
    outward: Tensor | None
    """(N*D,) the inverse of `inward`."""
    read: Tensor | None
    """(D*N,) the row of the (U, D, ...) table for each row of (D, N, ...); None if the table is (N, D, ...)."""

    @classmethod
    def of(cls, packing: Packing, directions: int, at: Tensor | None) -> Walk:
        inward = outward = None
        read = at
        if directions == 2:
            n, flip = torch.arange(len(packing.flip), device=packing.flip.device), packing.flip
            inward = torch.cat([2 * n, 2 * flip + 1])
            outward = torch.stack([n, flip + len(n)], 1).flatten()
            read = None if at is None else torch.cat([2 * at, 2 * at.index_select(0, flip) + 1])
        return cls(packing.batch_sizes, packing.last, inward, outward, read)

    def steps(self, *parts: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """The views (D, b, ...) of each (D, N, ...) tensor, one time step after the other."""
        return zip(*(part.split(self.sizes, 1) for part in parts), strict=True)

    def steps_back(self, *parts: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """The views of `steps` from the last time step to the first."""
        return zip(*(reversed(part.split(self.sizes, 1)) for part in parts), strict=True)

    def previous(self, start: Tensor, states: Tensor) -> Tensor:
        """(D, N, H) the state before each position: `start` (D, R, H), then the state of the step before."""
        before = zip(states.split(self.sizes, 1), self.sizes[1:], strict=False)
        return torch.cat([start, *(state[:, :size] for state, size in before)], 1)

    def enter(self, table: Tensor, directions: int) -> Tensor:
        """The rows ((U or N) * D, K) of (U or N, D, K) -> a new (D, N, K)."""
        index = self.inward if self.read is None else self.read
        rows = table.clone() if index is None else table.index_select(0, index)
        return rows.view(directions, sum(self.sizes), table.shape[1])

    def enter_backward(self, gradient: Tensor, length: int) -> Tensor:
        """The gradient of `enter`: (D, N, K) -> (length, K), where length is that of the table."""
        rows = gradient.flatten(0, 1)
        if self.read is not None:
            return rows.new_zeros(length, rows.shape[1]).index_add_(0, self.read, rows)
        return rows if self.outward is None else rows.index_select(0, self.outward)

    def add(self, gates: Tensor, constant: Tensor | None) -> None:
        """Add to `gates` (D, N, K), in place, the term of each row `constant` (D, R, K) at all its steps."""
        if constant is not None:
            for (gates_t,) in self.steps(gates):
                gates_t.add_(constant[:, : gates_t.shape[1]])

    def add_backward(self, gradient: Tensor, rows: int) -> Tensor:
        """The gradient of `add` by the constant: (D, N, K) -> (D, R, K)."""
        total = gradient.new_zeros(len(gradient), rows, gradient.shape[2])
        for (gradient_t,) in self.steps(gradient):
            total[:, : gradient_t.shape[1]].add_(gradient_t)
        return total

    def leave(self, states: Tensor) -> Tensor:
        """(D, N, H) -> the rows (N * D, H) of a new (N, D, H)."""
        rows = states.flatten(0, 1)
        return rows.clone() if self.outward is None else rows.index_select(0, self.outward)

    def leave_backward(self, gradient: Tensor, directions: int) -> Tensor:
        """The gradient of `leave`: (N * D, H) -> (D, N, H)."""
        rows = gradient if self.inward is None else gradient.index_select(0, self.inward)
        return rows.view(directions, sum(self.sizes), gradient.shape[1])


def outside_autocast(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run an autograd Function's forward or backward without autocast, which would change the dtype of its products."""

    @wraps(function)
    def run(ctx: Any, *inputs: Any) -> Any:
        first = next(part for part in inputs if isinstance(part, Tensor))
        with torch.autocast(first.device.type, enabled=False):
            return function(ctx, *inputs)

    return run


def lstm_step(i_f: Tensor, i: Tensor, f: Tensor, g: Tensor, o: Tensor, c: Tensor, cell: Tensor, hidden: Tensor) -> None:
    """One step of an LSTM: c' into `cell` and h' into `hidden`, from c and the sums in the gates, which become the
    gates. `i_f` is a view of both i and f."""
    i_f.sigmoid_()
    g.tanh_()
    o.sigmoid_()
    torch.mul(f, c, out=cell).addcmul_(i, g)
    torch.tanh(cell, out=hidden).mul_(o)


def lstm_derivatives(gates: Tensor, before: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """The local derivatives of all steps, from the gates (..., 4H), c before each step and c' after it (..., H): those
    of c' by the sums in i, f, g and of h' by the sum in o (..., 4H), and that of h' by c' (..., H)."""
    d_gates = torch.empty_like(gates)
    i, f, g, o = gates.chunk(4, -1)
    d_i, d_f, d_g, d_o = d_gates.chunk(4, -1)
    tanh_c = cells.tanh()
    sigmoid_backward.grad_input(g, i, grad_input=d_i)
    sigmoid_backward.grad_input(before, f, grad_input=d_f)
    tanh_backward.grad_input(i, g, grad_input=d_g)
    sigmoid_backward.grad_input(tanh_c, o, grad_input=d_o)
    return d_gates, tanh_backward(o, tanh_c)


def lstm_step_backward(d_h: Tensor, d_c: Tensor, h_by_c: Tensor, d_ifg: Tensor, d_o: Tensor, f: Tensor) -> None:
    """The backward pass of a step, from the gradients of h' and c' (..., H). `d_ifg` (..., 3, H) and `d_o` change from
    derivatives to gradients, and `d_c` becomes the gradient of c."""
    d_c.addcmul_(d_h, h_by_c)
    d_ifg.mul_(d_c.unsqueeze(-2))
    d_o.mul_(d_h)
    d_c.mul_(f)


class GRULoop(torch.autograd.Function):
    """r, z = sigmoid(x_rz + k_rz + U_rz h);  m = U_n h + b_n + k_n;  n = tanh(x_n + r m);  h' = (1 - z) n + z h.

    `table` ((U or N) * D, 4H) holds x_r, x_z, b_n, x_n, biases included; `weight` (D, 3H, H) is U; `start` (D, R, H)
    is h; `constant` (D, R, 3H) is k, one for all steps of a row, or None for 0. The output is the rows (N * D, H) of
    (N, D, H).
    """

    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any, table: Tensor, weight: Tensor, start: Tensor, constant: Tensor | None, walk: Walk
    ) -> tuple[Tensor, Tensor]:
        directions, _, width = start.shape
        gates = walk.enter(table, directions)  # overwritten step by step with r, z, m, n
        walk.add(gates[..., : 3 * width], constant)
        hidden = gates.new_empty(*gates.shape[:2], width)
        r, z, m, n = gates.split(width, 2)
        u, h = weight.transpose(1, 2), start
        steps = walk.steps(gates[..., : 3 * width], gates[..., : 2 * width], r, z, m, n, hidden)
        for rzm_t, rz_t, r_t, z_t, m_t, n_t, hidden_t in steps:
            h = h[:, : r_t.shape[1]]
            rzm_t.baddbmm_(h, u)
            rz_t.sigmoid_()
            n_t.addcmul_(r_t, m_t).tanh_()
            h = torch.lerp(n_t, h, z_t, out=hidden_t)
        ctx.save_for_backward(weight, start, gates, hidden)
        ctx.walk, ctx.length = walk, len(table)
        return walk.leave(hidden), hidden.index_select(1, walk.last)

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor, d_final: Tensor) -> tuple[Tensor | None, ...]:
        weight, start, gates, hidden = ctx.saved_tensors
        walk: Walk = ctx.walk
        directions, _, width = start.shape
        previous = walk.previous(start, hidden)
        d_hidden = walk.leave_backward(d_output, directions)
        d_gates = torch.empty_like(gates)  # first the derivatives of h' by the sums in r, z, m, n
        r, z, m, n = gates.split(width, 2)
        d_r, d_z, d_m, d_n = d_gates.split(width, 2)
        tanh_backward.grad_input(1 - z, n, grad_input=d_n)
        torch.mul(d_n, r, out=d_m)
        sigmoid_backward.grad_input(d_n * m, r, grad_input=d_r)
        sigmoid_backward.grad_input(previous - n, z, grad_input=d_z)
        carry = d_final.clone()  # gradient of each row's state; a row joins at its last step
        sides = (z, d_hidden, d_gates.unflatten(2, (4, width)), d_gates[..., : 3 * width])
        for z_t, d_hidden_t, d_gates_t, d_rzm_t in walk.steps_back(*sides):
            d = carry[:, : z_t.shape[1]].add_(d_hidden_t)
            d_gates_t.mul_(d[:, :, None])
            d.mul_(z_t).baddbmm_(d_rzm_t, weight)
        d_weight = torch.bmm(d_gates[..., : 3 * width].transpose(1, 2), previous) if ctx.needs_input_grad[1] else None
        d_constant = walk.add_backward(d_gates[..., : 3 * width], start.shape[1]) if ctx.needs_input_grad[3] else None
        return walk.enter_backward(d_gates, ctx.length), d_weight, carry, d_constant, None


class ResetFirstGRULoop(torch.autograd.Function):
    """r, z = sigmoid(x_rz + k_rz + U_rz h);  n = tanh(x_n + k_n + U_n (r h));  h' = (1 - z) n + z h.

    `table` ((U or N) * D, 3H) holds x_r, x_z, x_n, biases included; `weight`, `start`, `constant` and the output are as
    in `GRULoop`.
    """

    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any, table: Tensor, weight: Tensor, start: Tensor, constant: Tensor | None, walk: Walk
    ) -> tuple[Tensor, Tensor]:
        directions, _, width = start.shape
        gates = walk.enter(table, directions)  # overwritten step by step with r, z, n
        walk.add(gates, constant)
        hidden = gates.new_empty(*gates.shape[:2], width)
        r, z, n = gates.split(width, 2)
        u_rz, u_n = weight.transpose(1, 2).split([2 * width, width], 2)
        h = start
        for rz_t, r_t, z_t, n_t, hidden_t in walk.steps(gates[..., : 2 * width], r, z, n, hidden):
            h = h[:, : r_t.shape[1]]
            rz_t.baddbmm_(h, u_rz).sigmoid_()
            n_t.baddbmm_(r_t * h, u_n).tanh_()
            h = torch.lerp(n_t, h, z_t, out=hidden_t)
        ctx.save_for_backward(weight, start, gates, hidden)
        ctx.walk, ctx.length = walk, len(table)
        return walk.leave(hidden), hidden.index_select(1, walk.last)

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor, d_final: Tensor) -> tuple[Tensor | None, ...]:
        weight, start, gates, hidden = ctx.saved_tensors
        walk: Walk = ctx.walk
        directions, _, width = start.shape
        previous = walk.previous(start, hidden)
        d_hidden = walk.leave_backward(d_output, directions)
        d_gates = torch.empty_like(gates)  # first the derivatives of h' by the sums in z, n, and of r h by that in r
        r, z, n = gates.split(width, 2)
        d_r, d_z, d_n = d_gates.split(width, 2)
        sigmoid_backward.grad_input(previous, r, grad_input=d_r)
        sigmoid_backward.grad_input(previous - n, z, grad_input=d_z)
        tanh_backward.grad_input(1 - z, n, grad_input=d_n)
        u_rz, u_n = weight.split([2 * width, width], 1)
        carry = d_final.clone()  # gradient of each row's state; a row joins at its last step
        d_rz, d_zn = d_gates[..., : 2 * width], d_gates[..., width:].unflatten(2, (2, width))
        for r_t, z_t, d_hidden_t, d_r_t, d_n_t, d_rz_t, d_zn_t in walk.steps_back(r, z, d_hidden, d_r, d_n, d_rz, d_zn):
            d = carry[:, : z_t.shape[1]].add_(d_hidden_t)
            d_zn_t.mul_(d[:, :, None])
            d_kept = torch.bmm(d_n_t, u_n)  # gradient of r h
            d_r_t.mul_(d_kept)
            d.mul_(z_t).addcmul_(r_t, d_kept).baddbmm_(d_rz_t, u_rz)
        d_weight = None
        if ctx.needs_input_grad[1]:
            by_h, by_kept = d_rz.transpose(1, 2), d_n.transpose(1, 2)
            d_weight = torch.cat([torch.bmm(by_h, previous), torch.bmm(by_kept, r * previous)], 1)
        d_constant = walk.add_backward(d_gates, start.shape[1]) if ctx.needs_input_grad[3] else None
        return walk.enter_backward(d_gates, ctx.length), d_weight, carry, d_constant, None


class LSTMLoop(torch.autograd.Function):
    """i, f, o = sigmoid(x + U h);  g = tanh(x_g + U_g h);  c' = f c + i g;  h' = o tanh(c').

    `table` ((U or N) * D, 4H) holds x_i, x_f, x_g, x_o, biases included; `weight` (D, 4H, H) is U; `start` and `memory`
    (D, R, H) are h and c. The output is the rows (N * D, H) of (N, D, H).
    """

    @staticmethod
    @outside_autocast
    def forward(
        ctx: Any, table: Tensor, weight: Tensor, start: Tensor, memory: Tensor, walk: Walk
    ) -> tuple[Tensor, Tensor, Tensor]:
        directions, _, width = start.shape
        gates = walk.enter(table, directions)  # overwritten step by step with i, f, g, o
        hidden = gates.new_empty(*gates.shape[:2], width)
        cells = torch.empty_like(hidden)
        u, h, c = weight.transpose(1, 2), start, memory
        steps = walk.steps(gates, gates[..., : 2 * width], *gates.split(width, 2), hidden, cells)
        for gates_t, if_t, i_t, f_t, g_t, o_t, hidden_t, cells_t in steps:
            h, c = h[:, : i_t.shape[1]], c[:, : i_t.shape[1]]
            gates_t.baddbmm_(h, u)
            lstm_step(if_t, i_t, f_t, g_t, o_t, c, cells_t, hidden_t)
            h, c = hidden_t, cells_t
        ctx.save_for_backward(weight, start, memory, gates, hidden, cells)
        ctx.walk, ctx.length = walk, len(table)
        return walk.leave(hidden), hidden.index_select(1, walk.last), cells.index_select(1, walk.last)

    @staticmethod
    @outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor, d_final: Tensor, d_memory: Tensor) -> tuple[Tensor | None, ...]:
        weight, start, memory, gates, hidden, cells = ctx.saved_tensors
        walk: Walk = ctx.walk
        directions, _, width = start.shape
        d_hidden = walk.leave_backward(d_output, directions)
        d_gates, h_by_c = lstm_derivatives(gates, walk.previous(memory, cells), cells)
        f, d_o = gates.chunk(4, 2)[1], d_gates[..., 3 * width :]
        carry, carry_c = d_final.clone(), d_memory.clone()  # gradients of each row's state; it joins at its last step
        sides = (f, h_by_c, d_hidden, d_gates[..., : 3 * width].unflatten(2, (3, width)), d_o, d_gates)
        for f_t, h_by_c_t, d_hidden_t, d_ifg_t, d_o_t, d_gates_t in walk.steps_back(*sides):
            d = carry[:, : f_t.shape[1]].add_(d_hidden_t)
            lstm_step_backward(d, carry_c[:, : f_t.shape[1]], h_by_c_t, d_ifg_t, d_o_t, f_t)
            torch.bmm(d_gates_t, weight, out=d)
        d_weight = torch.bmm(d_gates.transpose(1, 2), walk.previous(start, hidden)) if ctx.needs_input_grad[1] else None
        return walk.enter_backward(d_gates, ctx.length), d_weight, carry, carry_c, None
