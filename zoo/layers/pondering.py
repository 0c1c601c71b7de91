"""Adaptive computation time: a function is applied to states again and again, and each state decides how often.

Alex Graves 2016, https://arxiv.org/abs/1603.08983, for each position by itself as in Dehghani et al. 2019,
https://arxiv.org/abs/1807.03819. A state with the signals P^t of its place and of the step t goes to a unit,
p^t = sigmoid(w (h^(t-1) + P^t) + b). It halts at the first step N at which p^1 + ... + p^N > 1 - .01, at the latest at
the last one. The weights of its states are p^1, ..., p^(N-1) and the rest R = 1 - p^1 - ... - p^(N-1): they sum to 1.

Notation: D width of a state, N real positions of a batch, R of them that run, M in rows where one runs, B rows, B' rows
where one runs, H heads, T and S positions of a query and of a memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from zoo.arguments import Count
from zoo.layers.embedding import SinusoidalPositions
from zoo.layers.packing import Cells, Packing
from zoo.linear import Linear
from zoo.precision import precise

Halting = Literal["accumulated", "interpolated", "published", "none"]
"""The rule by which states h^t of the weights w^t become the output: `accumulated`: output + w^t h^t; `interpolated`:
w^t h^t + (1 - w^t) output; `published`: w^t h^t + output - w^t; `none`: the state after all steps."""
BIAS = 1.0  # The first bias of the unit: p = 0.73, so that every state takes two steps at first
EPSILON = 0.01  # A state halts at a sum above 1 - EPSILON

Think = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Applies the function once: states with both signals (..., D), the states (..., D), and True where they run (...) ->
the next states (..., D). A state that has halted stays as it is."""


class Thought(NamedTuple):
    """The result of all steps on one side."""

    output: Tensor  # (..., D)
    state: Tensor  # (..., D) the state that is carried at the end
    steps: Tensor  # (...) how many steps each position took
    cost: Tensor  # (...) its ponder cost, N + R


class Remaining(NamedTuple):
    """The part of a batch that one more step concerns; None selects all."""

    run: Tensor | None  # (R,) packed numbers of the positions that run
    seen: Tensor | None  # (M,) packed numbers of all positions in rows where one runs
    rows: Tensor | None  # (B',) numbers of these rows
    run_cells: Cells  # Packs (B', T) to (R,)
    seen_cells: Cells  # Packs (B', T) to (M,)

    @classmethod
    def of(cls, packing: Packing, running: Tensor) -> Remaining:
        """The part in which the positions with `running` (N,) run."""
        if torch.compiler.is_compiling() or running.all():
            return cls(None, None, None, packing, packing)
        row, (count, length) = packing.row, packing.shape
        here = torch.zeros(count, dtype=torch.bool, device=row.device).index_fill(0, row[running], True)
        rank = here.cumsum(0) - 1  # (B,) the new number of each row
        cell = rank.index_select(0, row) * length + packing.time
        rows, run, seen = (one.nonzero()[:, 0] for one in (here, running, here.index_select(0, row)))
        cells = (Cells((len(rows), length), cell[one], rank[row[one]]) for one in (run, seen))
        return cls(run, seen, rows, *cells)

    def carried(self, weights: Tensor, before: Tensor | None, running: Tensor) -> Tensor:
        """Attention (B, H, T, S) of all queries: `weights` (B', H, T, S) of those that run, `before` of the others."""
        ran = self.run_cells.unpack(at(running, self.run).long()) > 0  # (B', T); onnxruntime fills no booleans
        kept = 0.0 if before is None else at(before, self.rows)
        return put(before, self.rows, torch.where(ran[:, None, :, None], weights, kept))


def at(x: Tensor, rows: Tensor | None) -> Tensor:
    """Some `rows` of x, or all."""
    return x if rows is None else x.index_select(0, rows)


def put(x: Tensor | None, rows: Tensor | None, new: Tensor) -> Tensor:
    """x with `new` in the place of some `rows`, or of all."""
    return new if rows is None or x is None else x.index_copy(0, rows, new)


class Pondering(nn.Module):
    """Applies a function again and again to many states; each halts by a unit that reads it."""

    def __init__(self, dim: Count, *, steps: Count, halting: Halting) -> None:
        """For states of D = `dim` numbers, which is even, and at most `steps` steps.

        With the rule `none` every state takes `steps` steps, and no unit is built.
        """
        super().__init__()
        self.signal, self.steps, self.rule = SinusoidalPositions(dim), steps, halting
        self.unit = None if halting == "none" else Linear(dim, 1)
        if self.unit is not None:  # so all positions take equally many steps at first
            nn.init.zeros_(self.unit.weight)
            nn.init.constant_(self.unit.bias, BIAS)

    def time(self, steps: range, like: Tensor) -> Tensor:
        """The signals of time (steps, D); the first step has number 0 here and time 1 in the paper."""
        return self.signal(torch.arange(steps.start + 1, steps.stop + 1, device=like.device))

    def forward(self, x: Tensor, places: Tensor, think: Think, *, stops: bool) -> Thought:
        """Think about embeddings x (..., D) with the signals of position `places` (..., D).

        `stops`: take no further step once every position has halted, which a look at the result of each step decides.
        """
        running = torch.ones(x.shape[:-1], dtype=torch.bool, device=x.device)
        spent = torch.zeros(x.shape[:-1], dtype=precise(x).dtype, device=x.device)
        rest, output, steps = spent, torch.zeros_like(x), running.long() * 0
        for t, time in enumerate(self.time(range(self.steps), x)):
            if stops and t and not running.any():
                break
            signalled = x + places + time  # H^(t-1) + P^t
            x, steps = think(signalled, x, running), steps + running
            if self.unit is None:
                output = x
                continue
            p = precise(self.unit(signalled))[..., 0].sigmoid()
            goes_on = running & (spent + p <= 1 - EPSILON) & (t + 1 < self.steps)
            rest = torch.where(running & ~goes_on, 1 - spent, rest)
            weight = torch.where(goes_on, p, 1 - spent) * running
            output = self._added(output, x, weight.to(x.dtype)[..., None])
            spent, running = spent + p * goes_on, goes_on
        return Thought(output, x, steps, steps + rest)

    def _added(self, output: Tensor, state: Tensor, weight: Tensor) -> Tensor:
        """The output (..., D) with one more state of the `weight` (..., 1)."""
        if self.rule == "interpolated":
            return output + weight * (state - output)
        return output + weight * (state - 1 if self.rule == "published" else state)
