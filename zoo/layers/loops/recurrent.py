"""The time loops of GRU and LSTM over packed rows.

Both directions advance in the same batched product, the backward one reading its rows mirrored. Backward takes all
steps' local derivatives at once, then walks back through time, and each recurrent weight's gradient is one product at
the end. (Autograd through torch's packed kernel fills a tensor of full size at every time step: quadratic in the
length.)

Notation: N packed positions, U distinct input rows, D directions (1 or 2), H hidden_size, R rows that are not empty.
A packed tensor of both directions is (N, D, ...) outside the loop and (D, N, ...) inside it, where position n of the
backward direction is `packing.flip[n]`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from zoo.layers.loops.loop import Loop, LSTMSteps, LSTMStepsBackward, PackedSteps, sigmoid_backward, tanh_backward
from zoo.layers.packing import Packing


@dataclass(frozen=True)
class Walk(PackedSteps):
    """The order in which the loop visits the packed positions, and the rows of its input."""

    last: Tensor  # (R,) the last position of each row, equal in both directions
    inward: Tensor | None
    """(D*N,) the row of (N, D, ...) for each row of (D, N, ...); None with one direction, where both are equal."""
    outward: Tensor | None  # (N*D,) the inverse of `inward`
    read: Tensor | None
    """(D*N,) the row of the (U, D, ...) table for each row of (D, N, ...); None if the table is (N, D, ...)."""
    dim: ClassVar[int] = 1

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

    def enter(self, table: Tensor, constant: Tensor | None, directions: int) -> Tensor:
        """The rows ((U or N) * D, K) of (U or N, D, K) -> a new (D, N, K). The term `constant` (D, R, K' <= K) of each
        row is added to the first K' columns at all its steps."""
        index = self.inward if self.read is None else self.read
        rows = table.clone() if index is None else table.index_select(0, index)
        gates = rows.view(directions, sum(self.sizes), table.shape[1])
        if constant is not None:
            for (gates_t,) in self.steps(gates[..., : constant.shape[2]]):
                gates_t.add_(constant[:, : gates_t.shape[1]])
        return gates

    def enter_backward(self, gradient: Tensor, length: int) -> Tensor:
        """The gradient of `enter` by the table: (D, N, K) -> (length, K), where length is that of the table."""
        rows = gradient.flatten(0, 1)
        if self.read is not None:
            return rows.new_zeros(length, rows.shape[1]).index_add_(0, self.read, rows)
        return rows if self.outward is None else rows.index_select(0, self.outward)

    def constant_backward(self, gradient: Tensor, rows: int) -> Tensor:
        """The gradient of `enter` by the constant: (D, N, K') -> (D, R, K')."""
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


class PackedLoop(Loop, ABC):
    """The part that all loops share: from a table of what the gates add to the product with U, to packed rows.

    `table` ((U or N) * D, K) holds the sums without the state, biases included; `weight` (D, ., H) is U; `start` are
    the states before the first step, (D, R, H) each, h first; `constant` (D, R, 3H) is k, one for all steps of a row,
    or None for 0. The outputs are the rows (N * D, H) of (N, D, H), and the last of each state (D, R, H).
    """

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def forward(
        self, table: Tensor, weight: Tensor, start: tuple[Tensor, ...], constant: Tensor | None
    ) -> tuple[Tensor, ...]:
        directions, _, width = start[0].shape
        self.weight, self.start, self.length = weight, start, len(table)
        self.gates = self.walk.enter(table, constant, directions)  # overwritten step by step
        self.states = tuple(self.gates.new_empty(*self.gates.shape[:2], width) for _ in start)
        self.run()
        return self.walk.leave(self.states[0]), *(state.index_select(1, self.walk.last) for state in self.states)

    def backward(self, d_output: Tensor, *d_final: Tensor) -> tuple[Tensor | tuple[Tensor, ...] | None, ...]:
        directions, rows, width = self.start[0].shape
        self.previous = self.walk.previous(self.start[0], self.states[0])
        carry = tuple(part.clone() for part in d_final)  # gradients of each row's states; a row joins at its last step
        d_gates = self.run_back(self.walk.leave_backward(d_output, directions), *carry)
        d_weight = self.weight_gradient(d_gates) if self.needs[1] else None
        d_constant = self.walk.constant_backward(d_gates[..., : 3 * width], rows) if self.needs[3] else None
        return self.walk.enter_backward(d_gates, self.length), d_weight, carry, d_constant

    @abstractmethod
    def run(self) -> None:
        """Overwrite the gates, and fill the states."""

    @abstractmethod
    def run_back(self, d_hidden: Tensor, *carry: Tensor) -> Tensor:
        """The gradient of the table inside the loop (D, N, K), from that of h (D, N, H). `carry` becomes in place the
        gradient of the states before the first step."""

    def weight_gradient(self, d_gates: Tensor) -> Tensor:
        """The gradient of U, from that of the sums (D, N, K)."""
        return torch.bmm(d_gates[..., : self.weight.shape[1]].transpose(1, 2), self.previous)


class GRULoop(PackedLoop):
    """r, z = sigmoid(x_rz + k_rz + U_rz h);  m = U_n h + b_n + k_n;  n = tanh(x_n + r m);  h' = (1 - z) n + z h.

    The table has K = 4H columns, x_r, x_z, b_n, x_n, and U has 3H rows.
    """

    def run(self) -> None:
        (hidden,), (h,), gates, width = self.states, self.start, self.gates, self.start[0].shape[2]
        u = self.weight.transpose(1, 2)
        steps = self.walk.steps(gates[..., : 3 * width], gates[..., : 2 * width], *gates.split(width, 2), hidden)
        for rzm_t, rz_t, r_t, z_t, m_t, n_t, hidden_t in steps:
            h = h[:, : r_t.shape[1]]
            rzm_t.baddbmm_(h, u)
            rz_t.sigmoid_()
            n_t.addcmul_(r_t, m_t).tanh_()
            h = torch.lerp(n_t, h, z_t, out=hidden_t)

    def run_back(self, d_hidden: Tensor, *carry: Tensor) -> Tensor:
        width = d_hidden.shape[2]
        d_gates = torch.empty_like(self.gates)  # first the derivatives of h' by the sums in r, z, m, n
        r, z, m, n = self.gates.split(width, 2)
        d_r, d_z, d_m, d_n = d_gates.split(width, 2)
        tanh_backward.grad_input(1 - z, n, grad_input=d_n)
        torch.mul(d_n, r, out=d_m)
        sigmoid_backward.grad_input(d_n * m, r, grad_input=d_r)
        sigmoid_backward.grad_input(self.previous - n, z, grad_input=d_z)
        steps = self.walk.steps(z, d_hidden, d_gates.unflatten(2, (4, width)), d_gates[..., : 3 * width])
        for z_t, d_hidden_t, d_gates_t, d_rzm_t in reversed(steps):
            d = carry[0][:, : z_t.shape[1]].add_(d_hidden_t)
            d_gates_t.mul_(d[:, :, None])
            d.mul_(z_t).baddbmm_(d_rzm_t, self.weight)
        return d_gates


class ResetFirstGRULoop(PackedLoop):
    """r, z = sigmoid(x_rz + k_rz + U_rz h);  n = tanh(x_n + k_n + U_n (r h));  h' = (1 - z) n + z h.

    The table has K = 3H columns, x_r, x_z, x_n, and U has 3H rows.
    """

    def run(self) -> None:
        (hidden,), (h,), gates, width = self.states, self.start, self.gates, self.start[0].shape[2]
        u_rz, u_n = self.weight.transpose(1, 2).split([2 * width, width], 2)
        steps = self.walk.steps(gates[..., : 2 * width], *gates.split(width, 2), hidden)
        for rz_t, r_t, z_t, n_t, hidden_t in steps:
            h = h[:, : r_t.shape[1]]
            rz_t.baddbmm_(h, u_rz).sigmoid_()
            n_t.baddbmm_(r_t * h, u_n).tanh_()
            h = torch.lerp(n_t, h, z_t, out=hidden_t)

    def run_back(self, d_hidden: Tensor, *carry: Tensor) -> Tensor:
        width = d_hidden.shape[2]
        d_gates = torch.empty_like(self.gates)  # first the derivatives of h' by the sums in z, n, and of r h by r's
        r, z, n = self.gates.split(width, 2)
        d_r, d_z, d_n = d_gates.split(width, 2)
        sigmoid_backward.grad_input(self.previous, r, grad_input=d_r)
        sigmoid_backward.grad_input(self.previous - n, z, grad_input=d_z)
        tanh_backward.grad_input(1 - z, n, grad_input=d_n)
        u_rz, u_n = self.weight.split([2 * width, width], 1)
        d_rz, d_zn = d_gates[..., : 2 * width], d_gates[..., width:].unflatten(2, (2, width))
        steps = self.walk.steps(r, z, d_hidden, d_r, d_n, d_rz, d_zn)
        for r_t, z_t, d_hidden_t, d_r_t, d_n_t, d_rz_t, d_zn_t in reversed(steps):
            d = carry[0][:, : z_t.shape[1]].add_(d_hidden_t)
            d_zn_t.mul_(d[:, :, None])
            d_reset = torch.bmm(d_n_t, u_n)  # gradient of r h
            d_r_t.mul_(d_reset)
            d.mul_(z_t).addcmul_(r_t, d_reset).baddbmm_(d_rz_t, u_rz)
        return d_gates

    def weight_gradient(self, d_gates: Tensor) -> Tensor:
        width = self.previous.shape[2]
        by_h, by_reset = d_gates.transpose(1, 2).split([2 * width, width], 1)
        reset = self.gates[..., :width] * self.previous
        return torch.cat([torch.bmm(by_h, self.previous), torch.bmm(by_reset, reset)], 1)


class LSTMLoop(PackedLoop):
    """i, f, o = sigmoid(x + U h);  g = tanh(x_g + U_g h);  c' = f c + i g;  h' = o tanh(c').

    The table has K = 4H columns, x_i, x_f, x_g, x_o, and U has 4H rows. The states are h and c; there is no k.
    """

    def run(self) -> None:
        (hidden, cells), (h, c) = self.states, self.start
        u, lstm = self.weight.transpose(1, 2), LSTMSteps(self.walk, self.gates, cells, hidden)
        for t, (gates_t,) in enumerate(self.walk.steps(self.gates)):
            size = gates_t.shape[1]
            gates_t.baddbmm_(h[:, :size], u)
            h, c = lstm.forward(t, c[:, :size])

    def run_back(self, d_hidden: Tensor, *carry: Tensor) -> Tensor:
        d_gates, cells = torch.empty_like(self.gates), self.states[1]
        lstm = LSTMStepsBackward(self.walk, self.gates, self.walk.previous(self.start[1], cells), cells, d_gates)
        steps = self.walk.steps(d_hidden)
        for t in reversed(range(len(steps))):
            (d_hidden_t,) = steps[t]
            d_h, d_c = (part[:, : d_hidden_t.shape[1]] for part in carry)
            torch.bmm(lstm.backward(t, d_h.add_(d_hidden_t), d_c), self.weight, out=d_h)
        return d_gates
