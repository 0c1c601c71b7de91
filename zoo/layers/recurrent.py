"""GRU and LSTM over packed rows: the weights of torch.nn.GRU and torch.nn.LSTM, no padding, a fast CPU training step.

On the CPU a layer is one autograd Function over the whole sequence: both directions advance in the same batched
product, the backward one reading its rows mirrored, and each recurrent weight's gradient is one product at the end.
(Autograd through torch's packed kernel fills a tensor of full size at every time step: quadratic in the length.) Other
devices take torch's kernel, which is cuDNN on CUDA.

The loop runs in float32 where autocast or the weights ask for half precision; its output has the dtype of the weights.
It is differentiable once: asking for the gradient of a gradient raises.

Notation: N packed positions, U distinct input rows, D directions (1 or 2), L layers, H hidden_size, R rows that are not
empty, `rows` all rows of the packing's grid, the empty ones included. A packed tensor of both directions is (N, D, ...)
outside the loop and (D, N, ...) inside it, where position n of the backward direction is `packing.flip[n]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from math import prod
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from zoo.layers.packing import Packing

KERNELS = ("auto", "loop", "torch")

tanh_backward = torch.ops.aten.tanh_backward  # (gradient, tanh) -> gradient * (1 - tanh^2)
sigmoid_backward = torch.ops.aten.sigmoid_backward  # (gradient, sigmoid) -> gradient * sigmoid * (1 - sigmoid)


class _Walk(NamedTuple):
    """How the loop goes through the packed positions, and where it finds its input."""

    sizes: tuple[int, ...]
    """Rows at each time step."""
    last: Tensor
    """(R,) where each row ends; the same in both directions."""
    inward: Tensor | None
    """(D*N,) row of (N, D, ...) that each row of (D, N, ...) is; None with one direction, where they are the same."""
    outward: Tensor | None
    """(N*D,) the inverse of `inward`."""
    read: Tensor | None
    """(D*N,) row of the (U, D, ...) table that each row of (D, N, ...) reads; None if the table is (N, D, ...)."""

    @classmethod
    def of(cls, packing: Packing, directions: int, at: Tensor | None) -> _Walk:
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
        """The same from the last time step to the first."""
        return zip(*(reversed(part.split(self.sizes, 1)) for part in parts), strict=True)

    def previous(self, start: Tensor, states: Tensor) -> Tensor:
        """(D, N, H) the state that each position began with: `start` (D, R, H), then the step before."""
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

    def leave(self, states: Tensor) -> Tensor:
        """(D, N, H) -> the rows (N * D, H) of a new (N, D, H)."""
        rows = states.flatten(0, 1)
        return rows.clone() if self.outward is None else rows.index_select(0, self.outward)

    def leave_backward(self, gradient: Tensor, directions: int) -> Tensor:
        """The gradient of `leave`: (N * D, H) -> (D, N, H)."""
        rows = gradient if self.inward is None else gradient.index_select(0, self.inward)
        return rows.view(directions, sum(self.sizes), gradient.shape[1])


def _outside_autocast(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run an autograd Function's forward or backward without autocast, which would change the dtype of its products."""

    @wraps(function)
    def run(ctx: Any, first: Tensor, *others: Any) -> Any:
        with torch.autocast(first.device.type, enabled=False):
            return function(ctx, first, *others)

    return run


class _GRULoop(torch.autograd.Function):
    """r, z = sigmoid(x_rz + U_rz h);  m = U_n h + b_n;  n = tanh(x_n + r m);  h' = (1 - z) n + z h.

    `table` ((U or N) * D, 4H) holds x_r, x_z, b_n, x_n, biases included; `weight` (D, 3H, H) is U; `start` (D, R, H)
    is h. The output is the rows (N * D, H) of (N, D, H).
    """

    @staticmethod
    @_outside_autocast
    def forward(ctx: Any, table: Tensor, weight: Tensor, start: Tensor, walk: _Walk) -> tuple[Tensor, Tensor]:
        directions, _, width = start.shape
        gates = walk.enter(table, directions)  # overwritten step by step with r, z, m, n
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
    @_outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor, d_final: Tensor) -> tuple[Tensor | None, ...]:
        weight, start, gates, hidden = ctx.saved_tensors
        walk: _Walk = ctx.walk
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
        return walk.enter_backward(d_gates, ctx.length), d_weight, carry, None


class _LSTMLoop(torch.autograd.Function):
    """i, f, o = sigmoid(x + U h);  g = tanh(x_g + U_g h);  c' = f c + i g;  h' = o tanh(c').

    `table` ((U or N) * D, 4H) holds x_i, x_f, x_g, x_o, biases included; `weight` (D, 4H, H) is U; `start` and `memory`
    (D, R, H) are h and c. The output is the rows (N * D, H) of (N, D, H).
    """

    @staticmethod
    @_outside_autocast
    def forward(
        ctx: Any, table: Tensor, weight: Tensor, start: Tensor, memory: Tensor, walk: _Walk
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
            if_t.sigmoid_()
            g_t.tanh_()
            o_t.sigmoid_()
            c = torch.mul(f_t, c, out=cells_t).addcmul_(i_t, g_t)
            h = torch.tanh(c, out=hidden_t).mul_(o_t)
        ctx.save_for_backward(weight, start, memory, gates, hidden, cells)
        ctx.walk, ctx.length = walk, len(table)
        return walk.leave(hidden), hidden.index_select(1, walk.last), cells.index_select(1, walk.last)

    @staticmethod
    @_outside_autocast
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor, d_final: Tensor, d_memory: Tensor) -> tuple[Tensor | None, ...]:
        weight, start, memory, gates, hidden, cells = ctx.saved_tensors
        walk: _Walk = ctx.walk
        directions, _, width = start.shape
        d_hidden = walk.leave_backward(d_output, directions)
        d_gates = torch.empty_like(gates)  # first the derivatives of c' and, by o, h' by the sums in i, f, g, o
        i, f, g, o = gates.split(width, 2)
        d_i, d_f, d_g, d_o = d_gates.split(width, 2)
        tanh_c = cells.tanh()
        sigmoid_backward.grad_input(g, i, grad_input=d_i)
        sigmoid_backward.grad_input(walk.previous(memory, cells), f, grad_input=d_f)
        tanh_backward.grad_input(i, g, grad_input=d_g)
        sigmoid_backward.grad_input(tanh_c, o, grad_input=d_o)
        h_by_c = tanh_backward(o, tanh_c)  # derivative of h' by c'
        carry, carry_c = d_final.clone(), d_memory.clone()  # gradients of each row's state; it joins at its last step
        sides = (f, h_by_c, d_hidden, d_gates[..., : 3 * width].unflatten(2, (3, width)), d_o, d_gates)
        for f_t, h_by_c_t, d_hidden_t, d_ifg_t, d_o_t, d_gates_t in walk.steps_back(*sides):
            d = carry[:, : f_t.shape[1]].add_(d_hidden_t)
            d_c = carry_c[:, : f_t.shape[1]].addcmul_(d, h_by_c_t)
            d_ifg_t.mul_(d_c[:, :, None])
            d_o_t.mul_(d)
            d_c.mul_(f_t)
            torch.bmm(d_gates_t, weight, out=d)
        d_weight = torch.bmm(d_gates.transpose(1, 2), walk.previous(start, hidden)) if ctx.needs_input_grad[1] else None
        return walk.enter_backward(d_gates, ctx.length), d_weight, carry, carry_c, None


class _PackedRNN(nn.RNNBase):
    """What GRU and LSTM share: torch's parameters, the layers, the order of the rows, the choice of the kernel."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        bidirectional: bool,
        dropout: float,
        kernel: str,
    ) -> None:
        if kernel not in KERNELS:
            raise ValueError(f"kernel is one of {', '.join(KERNELS)}; got {kernel!r}")
        super().__init__(mode, input_size, hidden_size, num_layers, bidirectional=bidirectional, dropout=dropout)
        self.kernel = kernel

    @torch.compiler.disable
    def _run(
        self, x: Tensor, packing: Packing, states: tuple[Tensor, ...] | None, at: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Output (N, D*H) and the final states, each (L*D, rows, H), from states of that shape."""
        self._check(x, packing, at)
        start = tuple(self._sorted(state, x, packing) for state in states or (None,) * (1 + (self.mode == "LSTM")))
        library = self.kernel == "torch" or (self.kernel == "auto" and x.device.type != "cpu")
        if library and packing.batch_sizes:  # cuDNN refuses a batch without a single position
            output, final = self._library(x if at is None else x.index_select(0, at), packing, start)
        else:
            output, final = self._loop(x, packing, start, at)
        return output, tuple(self._in_grid_order(state, packing) for state in final)

    def _library(self, x: Tensor, packing: Packing, start: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        sizes = torch.tensor(packing.batch_sizes)  # torch wants it on the CPU
        weights = [weight for weight in self._flat_weights if weight is not None]
        settings = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if self.mode == "GRU":
            output, *final = torch._VF.gru(x, sizes, start[0], weights, *settings)
        else:
            output, *final = torch._VF.lstm(x, sizes, start, weights, *settings)
        return output, tuple(final)

    def _loop(
        self, x: Tensor, packing: Packing, start: tuple[Tensor, ...], at: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        directions = 1 + self.bidirectional
        function = {"GRU": _GRULoop, "LSTM": _LSTMLoop}[self.mode]
        weight_dtype = next(self.parameters()).dtype
        dtype = torch.promote_types(weight_dtype, torch.float32)
        output, finals = x, []
        for layer in range(self.num_layers):
            names = [f"l{layer}{suffix}" for suffix in ("", "_reverse")[:directions]]
            w_x, w_h, b_x, b_h = (
                [getattr(self, f"{kind}_{name}") for name in names]
                for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            if layer:
                output, at = F.dropout(output, self.dropout, self.training), None
            table = self._table(output, torch.cat(w_x), torch.stack(b_x), torch.stack(b_h)).to(dtype)
            begin = (state[layer * directions : (layer + 1) * directions].to(dtype) for state in start)
            walk = _Walk.of(packing, directions, at)
            output, *final = function.apply(table, torch.stack(w_h).to(dtype), *begin, walk)
            output = output.view(len(packing.cell), directions * self.hidden_size).to(weight_dtype)
            finals.append(final)
        return output, tuple(torch.cat(states).to(weight_dtype) for states in zip(*finals, strict=True))

    def _table(self, x: Tensor, weight: Tensor, bias_x: Tensor, bias_h: Tensor) -> Tensor:
        """x (U or N, input) -> rows ((U or N) * D, 4H): the part of a step's sums without the state.

        The weights of both directions are stacked, (D * gates * H, input); the biases are (D, gates * H).
        """
        if self.mode == "LSTM":
            return F.linear(x, weight, (bias_x + bias_h).flatten()).view(-1, bias_x.shape[1])
        width = 2 * self.hidden_size
        bias = torch.cat([bias_x[:, :width] + bias_h[:, :width], bias_x[:, width:]], 1)
        table = F.linear(x, weight, bias.flatten()).view(len(x), *bias.shape)  # (U or N, D, 3H)
        b_n = bias_h[:, width:].to(table.dtype).expand(len(x), -1, -1)  # acts inside the reset gate's product
        return torch.cat([table[..., :width], b_n, table[..., width:]], 2).flatten(0, 1)

    def _check(self, x: Tensor, packing: Packing, at: Tensor | None) -> None:
        positions = len(packing.cell)
        if x.dim() != 2 or x.shape[1] != self.input_size:
            raise ValueError(f"x must be (positions, {self.input_size}), got {tuple(x.shape)}")
        if at is None and len(x) != positions:
            raise ValueError(f"x has {len(x)} rows, the packing {positions} positions; distinct rows need `at`")
        if at is not None and tuple(at.shape) != (positions,):
            raise ValueError(
                f"`at` must name a row of x for each of the {positions} packed positions, got {tuple(at.shape)}"
            )

    def _sorted(self, state: Tensor | None, x: Tensor, packing: Packing) -> Tensor:
        """(L*D, rows, H) in grid order -> (L*D, R, H), longest row first."""
        shape = (self.num_layers * (1 + self.bidirectional), prod(packing.shape[:-1]), self.hidden_size)
        if state is None:
            return x.new_zeros(shape[0], len(packing.order), shape[2])
        if tuple(state.shape) != shape:
            raise ValueError(
                f"a state must be (layers * directions, rows of the grid, hidden) = {shape}, got {tuple(state.shape)}"
            )
        return state.index_select(1, packing.order)

    def _in_grid_order(self, state: Tensor, packing: Packing) -> Tensor:
        """(L*D, R, H), longest row first -> (L*D, rows, H) in grid order, zero for empty rows."""
        grid = state.new_zeros(state.shape[0], prod(packing.shape[:-1]), state.shape[2])
        return grid.index_copy(1, packing.order, state)


class GRU(_PackedRNN):
    """Gated recurrent unit (Cho et al. 2014) in torch.nn.GRU's form: the reset gate acts after the product with U.

    `kernel` = auto (loop on the CPU, torch's elsewhere) | loop | torch. `dropout` acts between layers.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        kernel: str = "auto",
    ) -> None:
        super().__init__("GRU", input_size, hidden_size, num_layers, bidirectional, dropout, kernel)

    def forward(
        self, x: Tensor, packing: Packing, state: Tensor | None = None, *, at: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Output (N, D*H) and final state (L*D, rows, H) of x (N, input) from `state` (L*D, rows, H), default zero.

        With `at` (N,), x holds U distinct rows and position n reads x[at[n]]: the same result, projected once per row.
        Raises ValueError when the shapes of x, `at`, `state` and `packing` do not fit.
        """
        output, (final,) = self._run(x, packing, None if state is None else (state,), at)
        return output, final


class LSTM(_PackedRNN):
    """Long short-term memory (Hochreiter and Schmidhuber 1997) with forget gates (Gers et al. 2000), as torch.nn.LSTM.

    `kernel` = auto (loop on the CPU, torch's elsewhere) | loop | torch. `dropout` acts between layers.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        kernel: str = "auto",
    ) -> None:
        super().__init__("LSTM", input_size, hidden_size, num_layers, bidirectional, dropout, kernel)

    def forward(
        self, x: Tensor, packing: Packing, state: tuple[Tensor, Tensor] | None = None, *, at: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Output (N, D*H) and final (h, c), each (L*D, rows, H), of x (N, input) from `state` = (h, c), default zero.

        With `at` (N,), x holds U distinct rows and position n reads x[at[n]]: the same result, projected once per row.
        Raises ValueError when the shapes of x, `at`, `state` and `packing` do not fit.
        """
        output, (h, c) = self._run(x, packing, state, at)
        return output, (h, c)
