"""GRU and LSTM over packed rows: the weights of torch.nn.GRU and torch.nn.LSTM, no padding, a fast CPU training step.

On the CPU a layer is one autograd Function over the whole sequence (`loops/recurrent.py`), or for an LSTM over rows of
equal length oneDNN's kernel. Other devices use torch's kernel, which is cuDNN on CUDA, for the forms that torch
computes. `step` is one time step of the same layers with the same weights, in plain differentiable operations: what a
decoder does token by token.

The loop runs in float32 where autocast or the weights ask for half precision; its output has the dtype of the weights.
It is differentiable once: asking for the gradient of a gradient raises an error.

Notation: N packed positions, U distinct input rows, D directions (1 or 2), L layers, H hidden_size, G gates (3 in a
GRU, 4 in an LSTM), R rows that are not empty, `rows` all rows of the packing's grid, the empty ones included.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import product
from math import prod
from typing import TypedDict, Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from zoo.errors import one_of
from zoo.layers.grid import is_grid, run_grid
from zoo.layers.loops.loop import uncompiled
from zoo.layers.loops.recurrent import GRULoop, LSTMLoop, PackedLoop, ResetFirstGRULoop, Walk
from zoo.layers.packing import Packing, Padded
from zoo.layers.walk import scanned
from zoo.linear import linear
from zoo.precision import precise_dtype, without_autocast

KERNELS = ("auto", "loop", "torch")
RESETS = ("after", "before")
UPDATES = ("keep", "new")


class RNNArguments(TypedDict, total=False):
    """Arguments of both networks that have a default."""

    num_layers: int
    bidirectional: bool
    dropout: float
    kernel: str


class PackedRNN(nn.RNNBase, ABC):
    """The common part of GRU and LSTM: torch's parameters, the layers, the order of the rows, the choice of the
    kernel."""

    weight_ih_l0: nn.Parameter  # created by torch, and so is the next one
    weight_hh_l0: nn.Parameter
    known_to_torch = True  # whether torch's kernel computes this form
    fast_grid = False  # whether torch's kernel for rows of equal length is faster on the CPU than the loop
    form: type[PackedLoop]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        *,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        kernel: str = "auto",
    ) -> None:
        one_of("kernel", kernel, KERNELS)
        super().__init__(mode, input_size, hidden_size, num_layers, bidirectional=bidirectional, dropout=dropout)
        self.kernel = kernel

    @uncompiled
    def _run(
        self,
        x: Tensor,
        packing: Packing,
        states: tuple[Tensor, ...] | None,
        at: Tensor | None,
        context: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Output (N, D*H) and the final states, each (L*D, rows, H), from states of that shape."""
        self._check(x, packing, at)
        if isinstance(packing, Padded):
            return self._scanned(x if at is None else x.index_select(0, at), packing, states, context)
        start = tuple(self._sorted(state, x, packing) for state in states or (None,) * (1 + (self.mode == "LSTM")))
        library = self.kernel == "torch" or (self.kernel == "auto" and x.device.type != "cpu" and self.known_to_torch)
        one_step = len(packing.batch_sizes) == 1 and at is None and context is None and not self.bidirectional
        if one_step and not library and self.kernel == "auto" and not torch.is_grad_enabled():
            output, final = self._step(x, start)  # the other kernels pack their weights anew
        elif self.fast_grid and self.kernel != "loop" and at is None and not self.bidirectional and is_grid(x, packing):
            weights = [self._of_layer(layer) for layer in range(self.num_layers)]
            between = self.dropout if self.training else 0.0
            output, final = run_grid(self.mode.lower(), x, packing, start, weights, between)
        elif library and context is None and packing.batch_sizes:  # cuDNN refuses a batch without a single position
            output, final = self._library(x if at is None else x.index_select(0, at), packing, start)
        else:
            output, final = self._loop(x, packing, start, at, context)
        return output, tuple(self._in_grid_order(state, packing) for state in final)

    def _library(self, x: Tensor, packing: Packing, start: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        sizes = torch.tensor(packing.batch_sizes)  # torch requires it on the CPU
        # not those that torch keeps in a list: a functional call replaces parameters only
        sides = product(range(self.num_layers), range(1 + self.bidirectional))
        weights = [weight for side in sides for weight in self._of_layer(*side)]
        settings = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        begin = start if self.mode == "LSTM" else start[0]
        output, *final = getattr(torch._VF, self.mode.lower())(x, sizes, begin, weights, *settings)
        return output, tuple(final)

    def _loop(
        self, x: Tensor, packing: Packing, start: tuple[Tensor, ...], at: Tensor | None, context: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        directions = 1 + self.bidirectional
        weight_dtype = self.weight_ih_l0.dtype
        dtype = precise_dtype(weight_dtype)
        constant = None if context is None else context.index_select(0, packing.order)[None].to(dtype)  # (1, R, GH)
        output, finals = x, []
        for layer in range(self.num_layers):
            if layer:
                output, at = F.dropout(output, self.dropout, self.training), None
            w_x, w_h, b_x, b_h = self._weights(layer)
            table = self._table(output, w_x.flatten(0, 1), b_x, b_h).to(dtype)
            begin = [state[layer * directions : (layer + 1) * directions].to(dtype) for state in start]
            walk = Walk.of(packing, directions, at)
            output, *final = self.form(walk)(table, w_h.to(dtype), tuple(begin), constant)
            output = output.view(len(packing.cell), directions * self.hidden_size).to(weight_dtype)
            finals.append(final)
        return output, tuple(torch.cat(states).to(weight_dtype) for states in zip(*finals, strict=True))

    def _scanned(
        self, x: Tensor, packing: Padded, states: tuple[Tensor, ...] | None, context: Tensor | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """As `_run` from x (N, input), by the steps that `step` takes, in each direction."""
        directions, rows = 1 + self.bidirectional, prod(packing.shape[:-1])
        nothing = x.new_zeros(self.num_layers * directions, rows, self.hidden_size)
        begin = states or (nothing,) * (1 + (self.mode == "LSTM"))
        finals = []
        for layer in range(self.num_layers):
            found = []
            for direction in range(directions):
                weights = self._of_layer(layer, direction)

                def cell(x_t: Tensor, state: tuple[Tensor, ...], weights: list[Tensor] = weights) -> tuple[Tensor, ...]:
                    return self._cell(x_t, state, weights, context)

                own = tuple(state[layer * directions + direction] for state in begin)
                (output,), final = scanned(cell, _hidden, x, packing, own, backwards=direction == 1)
                found.append(output)
                finals.append(final)
            x = torch.cat(found, 1)
        return x, tuple(torch.stack(parts) for parts in zip(*finals, strict=True))

    def _of_layer(self, layer: int, direction: int = 0) -> list[Tensor]:
        """The weights of the input (GH, input) and the state (GH, H), and their biases (GH,)."""
        name = f"l{layer}" + "_reverse" * direction
        return [getattr(self, f"{kind}_{name}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]

    def _weights(self, layer: int) -> list[Tensor]:
        """A layer's weights of the input (D, GH, input) and the state (D, GH, H), and their biases (D, GH)."""
        both = zip(*(self._of_layer(layer, direction) for direction in range(1 + self.bidirectional)), strict=True)
        return [sides[0][None] if len(sides) == 1 else torch.stack(sides) for sides in both]

    def _table(self, x: Tensor, weight: Tensor, bias_x: Tensor, bias_h: Tensor) -> Tensor:
        """x (U or N, input) -> rows ((U or N) * D, GH): the part of a step's sums without the state.

        The weights of both directions are stacked, (D * GH, input); the biases are (D, GH).
        """
        return F.linear(x, weight, sum_of_biases(bias_x, bias_h).flatten()).view(-1, bias_x.shape[1])

    def _step(
        self, x: Tensor, states: tuple[Tensor, ...], context: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Output (R, H) and states (L, R, H) of one time step."""
        self._check_step(x, *states)
        layers: list[tuple[Tensor, ...]] = []
        with without_autocast(x.device):
            output = x.to(self.weight_ih_l0.dtype)
            for layer in range(self.num_layers):
                if layer:
                    output = F.dropout(output, self.dropout, self.training)
                before = tuple(state[layer].to(output.dtype) for state in states)
                layers.append(self._cell(output, before, self._of_layer(layer), context))
                output = layers[-1][0]
        return output, tuple(torch.stack(parts) for parts in zip(*layers, strict=True))

    @abstractmethod
    def _cell(
        self, x: Tensor, states: tuple[Tensor, ...], weights: list[Tensor], context: Tensor | None
    ) -> tuple[Tensor, ...]:
        """The new states (R, H) of one layer with its `weights`, see `_of_layer`."""

    def _check(self, x: Tensor, packing: Packing, at: Tensor | None) -> None:
        positions = packing.cell.shape[0]
        if x.dim() != 2 or x.shape[1] != self.input_size:
            raise ValueError(f"x must be (positions, {self.input_size}), got {tuple(x.shape)}")
        if at is None and x.shape[0] != positions:
            raise ValueError(f"x has {len(x)} rows, the packing {positions} positions; distinct rows need `at`")
        if at is not None and tuple(at.shape) != (positions,):
            raise ValueError(
                f"`at` must name a row of x for each of the {positions} packed positions, got {tuple(at.shape)}"
            )

    def _check_step(self, x: Tensor, *states: Tensor) -> None:
        if self.bidirectional:
            raise ValueError("a bidirectional layer has no step, because it reads the whole row")
        rows = x.shape[:-1]
        for state in states:
            if x.shape != (*rows, self.input_size) or state.shape != (self.num_layers, *rows, self.hidden_size):
                raise ValueError(
                    f"x must be (rows, {self.input_size}) and a state ({self.num_layers}, rows, {self.hidden_size}), "
                    f"got {tuple(x.shape)} and {tuple(state.shape)}"
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


def _hidden(states: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """h of the states of a layer."""
    return states[:1]


def sum_of_biases(bias_x: Tensor, bias_h: Tensor) -> Tensor:
    """The sum of both biases. The product with 1 gives the second bias its own gradient: autograd gives two added views
    gradients in the same memory, and clipping or accumulation would change that memory twice."""
    return bias_x + 1.0 * bias_h


class GRU(PackedRNN):
    """Gated recurrent unit (Cho et al. 2014): r, z = sigmoid(W x + U h), a candidate n, and the new state from both.

    `reset` = after (torch.nn.GRU, n = tanh(W x + r (U h)), biases with their products) | before (Cho et al. 2014 and
    Bahdanau et al. 2015, n = tanh(W x + U (r h))). `update` = keep (torch and Cho, h' = z h + (1 - z) n) | new
    (Bahdanau, h' = (1 - z) h + z n). `kernel` = auto (loop on the CPU, torch's elsewhere if it knows the form) | loop |
    torch. `dropout` acts between layers. Raises ValueError for kernel=torch and a form that is not torch's.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        reset: str = "after",
        update: str = "keep",
        **rest: Unpack[RNNArguments],
    ) -> None:
        super().__init__("GRU", input_size, hidden_size, **rest)
        self.reset, self.update = one_of("reset", reset, RESETS), one_of("update", update, UPDATES)
        self.form = ResetFirstGRULoop if reset == "before" else GRULoop
        self.known_to_torch = (reset, update) == ("after", "keep")
        if self.kernel == "torch" and not self.known_to_torch:
            raise ValueError(f"kernel=torch requires reset=after and update=keep, found {reset} and {update}")

    def forward(
        self,
        x: Tensor,
        packing: Packing,
        state: Tensor | None = None,
        *,
        at: Tensor | None = None,
        context: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Output (N, D*H) and final state (L*D, rows, H) of x (N, input) from `state` (L*D, rows, H), default zero.

        With `at` (N,), x holds U distinct rows and position n reads x[at[n]]: the same result, projected once per row.
        `context` (rows, 3H) is the same at all steps of a row and is added to the product with U of r, z and n, so that
        with reset=after the reset gate acts on it too: C c of Cho et al. 2014. One layer and one direction only.
        Raises ValueError when the shapes of x, `at`, `state`, `context` and `packing` do not fit.
        """
        self._check_context(context, prod(packing.shape[:-1]))
        context = None if context is None else self._kept(context)
        output, (final,) = self._run(x, packing, None if state is None else (state,), at, context)
        return output, final

    def step(self, x: Tensor, state: Tensor, *, context: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """One time step of x (R, input) from `state` (L, R, H): output (R, H) and state (L, R, H).

        `context` (R, 3H) as in `forward`. Raises ValueError when the shapes do not fit or there are two directions.
        """
        self._check_context(context, x.shape[0])
        output, (after,) = self._step(x, (state,), context)
        return output, after

    def _cell(
        self, x: Tensor, states: tuple[Tensor, ...], weights: list[Tensor], context: Tensor | None
    ) -> tuple[Tensor, ...]:
        (h,), (w_x, w_h, b_x, b_h) = states, weights
        if self.known_to_torch and context is None:
            return (torch.gru_cell(x, h, w_x, w_h, b_x, b_h),)
        inner = b_h if context is None else b_h + context.to(b_h.dtype)  # added to the product with U
        width = [2 * self.hidden_size, self.hidden_size]
        x_rz, x_n = linear(x, w_x, b_x).split(width, -1)
        inner_rz, inner_n = inner.split(width, -1)
        of_rz, of_n = slice(0, width[0]), slice(width[0], sum(width))
        r, z = (x_rz + linear(h, w_h, rows=of_rz) + inner_rz).sigmoid().chunk(2, -1)
        read = linear(r * h if self.reset == "before" else h, w_h, rows=of_n) + inner_n
        n = (x_n + (read if self.reset == "before" else r * read)).tanh()
        return (torch.lerp(n, h, z) if self.update == "keep" else torch.lerp(h, n, z),)

    def _weights(self, layer: int) -> list[Tensor]:
        return [self._kept(part) for part in super()._weights(layer)]

    def _kept(self, part: Tensor) -> Tensor:
        """Sums or weights of the gates (., 3H, ...) for the loops, which keep with z: 1 - sigmoid(a) = sigmoid(-a)."""
        if self.update == "keep":
            return part
        r, z, n = part.chunk(3, 1)
        return torch.cat([r, -z, n], 1)

    def _table(self, x: Tensor, weight: Tensor, bias_x: Tensor, bias_h: Tensor) -> Tensor:
        """As everywhere; with reset=after rows ((U or N) * D, 4H), whose third part b_n acts inside the reset gate."""
        if self.reset == "before":
            return super()._table(x, weight, bias_x, bias_h)
        width = 2 * self.hidden_size
        bias = torch.cat([bias_x[:, :width] + bias_h[:, :width], bias_x[:, width:]], 1)
        table = F.linear(x, weight, bias.flatten()).view(len(x), *bias.shape)  # (U or N, D, 3H)
        b_n = bias_h[:, width:].to(table.dtype).expand(len(x), -1, -1)
        return torch.cat([table[..., :width], b_n, table[..., width:]], 2).flatten(0, 1)

    def _check_context(self, context: Tensor | None, rows: int) -> None:
        if context is None:
            return
        if self.kernel == "torch":
            raise ValueError("kernel=torch has no context: use kernel=auto or kernel=loop")
        if self.num_layers > 1 or self.bidirectional:
            raise ValueError("a context requires one layer and one direction")
        if tuple(context.shape) != (rows, 3 * self.hidden_size):
            raise ValueError(
                f"context must be (rows, 3 * hidden) = {rows, 3 * self.hidden_size}, got {tuple(context.shape)}"
            )


class LSTM(PackedRNN):
    """Long short-term memory (Hochreiter and Schmidhuber 1997) with forget gates (Gers et al. 2000), as torch.nn.LSTM.

    `kernel` = auto (on the CPU loop or, for rows of equal length, torch's; torch's elsewhere) | loop | torch. `dropout`
    acts between layers.
    """

    form, fast_grid = LSTMLoop, True

    def __init__(self, input_size: int, hidden_size: int, **rest: Unpack[RNNArguments]) -> None:
        super().__init__("LSTM", input_size, hidden_size, **rest)

    def forward(
        self, x: Tensor, packing: Packing, state: tuple[Tensor, Tensor] | None = None, *, at: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Output (N, D*H) and final (h, c), each (L*D, rows, H), of x (N, input) from `state` = (h, c), default zero.

        With `at` (N,), x holds U distinct rows and position n reads x[at[n]]: the same result, projected once per row.
        Raises ValueError when the shapes of x, `at`, `state` and `packing` do not fit.
        """
        output, (h, c) = self._run(x, packing, state, at)
        return output, (h, c)

    def step(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """One time step of x (R, input) from `state` = (h, c), each (L, R, H): output (R, H) and (h, c).

        Raises ValueError when the shapes do not fit or there are two directions.
        """
        output, (h, c) = self._step(x, state)
        return output, (h, c)

    @staticmethod
    def hypotheses(state: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        """(h, c), (L, B, H) each -> `hidden` and `cell`, (B, 1, L, H) each, of one hypothesis for each example."""
        return {name: part.transpose(0, 1)[:, None] for name, part in zip(("hidden", "cell"), state, strict=True)}

    def read(self, x: Tensor, hypotheses: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """One time step of x (B, K, input) from `hidden` and `cell`, (B, K, L, H) each: output (B, K, H) and both."""
        shape = x.shape[:2]
        h, c = (hypotheses[name].flatten(0, 1).transpose(0, 1) for name in ("hidden", "cell"))  # (L, B K, H)
        output, (h, c) = self.step(x.flatten(0, 1), (h, c))
        h, c = (part.transpose(0, 1).unflatten(0, shape) for part in (h, c))
        return output.unflatten(0, shape), {"hidden": h, "cell": c}

    def _cell(
        self, x: Tensor, states: tuple[Tensor, ...], weights: list[Tensor], context: Tensor | None
    ) -> tuple[Tensor, ...]:
        if x.device.type != "cpu":  # there torch has a kernel for it
            return torch.lstm_cell(x, states, *weights)
        (h, c), (w_x, w_h, b_x, b_h) = states, weights
        i, f, g, o = (linear(x, w_x, b_x) + linear(h, w_h, b_h)).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
