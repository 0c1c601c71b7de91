"""Networks one time step after the other over packed rows: a decoder by its `step`, and a cell with a memory.

Notation: B examples, R of them with a target, T target positions, N real ones, V vocabulary.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeVar

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from zoo.layers.packing import Packing, Padded
from zoo.layers.state import State, Step

Feed = Callable[[Tensor, Tensor], Tensor]
"""(log-probabilities (R', 1, V) of the next token, the true token (R', 1)) -> the next input: ids (R', 1) or a
distribution (R', 1, V)."""


def walk(
    step: Callable[[Tensor, State], Step],
    state: State,
    read: Tensor,
    packing: Packing,
    *,
    feed: Feed | None = None,
    need_weights: bool = True,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Log-probabilities (N, V) at the real positions in the order of `packing`, and attention (B, T, S) by name, or
    with heads (B, H, T, S).

    `state` is the state of B examples before the first token, and `read` (B, T) are the true tokens to read. After the
    first token `feed` may replace them. Examples are sorted by length, and a step computes only the examples that have
    a real token there.
    """
    truth = read.index_select(0, packing.order)  # (R, T)
    state = state.examples(packing.order)
    scores: list[Tensor] = []
    attention: dict[str, list[Tensor]] = {}
    for t, rows in enumerate(packing.batch_sizes):
        tokens = truth[:rows, t, None]
        if feed is not None and t:
            tokens = feed(scores[-1][:rows, None], tokens)
        log_probs, state, weights = step(tokens, _first(state, rows))
        scores.append(log_probs[:, 0])
        for name, part in weights.items() if need_weights else ():
            attention.setdefault(name, []).append(part[:, 0])
    return torch.cat(scores), {name: _unpacked(torch.cat(steps), packing) for name, steps in attention.items()}


def _first(state: State, rows: int) -> State:
    """The state of the first `rows` examples. A slice of all would cost a copy of the memory in the backward pass."""

    def first(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: part if len(part) == rows else part[:rows] for name, part in parts.items()}

    return State(first(state.memory), first(state.hypotheses), history=first(state.history))


def _unpacked(weights: Tensor, packing: Packing) -> Tensor:
    """Packed weights (N, S) or (N, H, S) -> (B, T, S) or (B, H, T, S)."""
    grid = packing.unpack(weights)
    return grid.transpose(1, 2) if weights.dim() == 3 else grid


CellState = TypeVar("CellState")


def scanned(
    cell: Callable[[Tensor, CellState], CellState],
    seen: Callable[[CellState], tuple[Tensor, ...]],
    x: Tensor,
    packing: Padded,
    state: CellState,
    *,
    backwards: bool = False,
) -> tuple[tuple[Tensor, ...], CellState]:
    """The time loop of a network that is exported: one operator, whatever the number of steps is.

    Returns what is `seen` after each position, (N, ...) each, and the state of each row after its last position. A
    position that is padding leaves the state as it is.

    Args:
        cell: The state after a step, from its inputs and the state before it.
        seen: The tensors (rows, ...) of a state that are kept at each position.
        x: (N, ...) inputs.
        packing: The positions of x.
        state: The state before the first step: tensors (rows, ...), in any structure.
        backwards: From the last position of each row to the first.
    """
    from torch._higher_order_ops.scan import scan

    parts, structure = tree_flatten(state)
    parts = [part.clone(memory_format=torch.contiguous_format) for part in parts]  # none may share memory

    def step(carried: list[Tensor], given: tuple[Tensor, Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        x_t, real = given
        after = cell(x_t, tree_unflatten(carried, structure))
        kept = [
            torch.where(real.view(-1, *[1] * (new.dim() - 1)), new, old)
            for new, old in zip(tree_leaves(after), carried, strict=True)
        ]
        return kept, [part.clone() for part in seen(tree_unflatten(kept, structure))]

    grid = prod(packing.shape[:-1]), packing.shape[-1]
    steps = x.view(*grid, *x.shape[1:]).transpose(0, 1), packing.mask.view(grid).transpose(0, 1)
    parts, found = scan(step, parts, steps, reverse=backwards)
    return tuple(part.transpose(0, 1).flatten(0, 1) for part in found), tree_unflatten(parts, structure)


def steps_of_cell(
    cell: Callable[[Tensor, CellState], CellState], x: Tensor, sizes: Sequence[int], state: CellState, *, compiled: bool
) -> list[CellState]:
    """Return the state after each step. Without any step, the list has only the first state.

    Args:
        cell: The state after a step, from its inputs and the state before it.
        x: (n, ...) packed inputs.
        sizes: Rows at each step, falling.
        state: The state before the first step: tensors (rows, ...), or lists of them, in a NamedTuple.
        compiled: The cell is compiled: once for a single row, and once for any other number of rows.
    """
    if compiled:
        state = tree_map(_as_in_later_steps, state)
    states: list[CellState] = []
    rows = 0
    for x_t, size in zip(x.split(list(sizes)), sizes, strict=True):
        if size < rows:
            state = tree_map(lambda part, size=size: part[:size], state)
        if compiled:
            x_t = x_t.clone()  # the offset of a view would be compiled too
            if size != rows and size > 1:
                for part in tree_leaves([x_t, state]):
                    torch._dynamo.maybe_mark_dynamic(part, 0)
        state, rows = cell(x_t, state), size
        states.append(state)
    return states or [state]


def _as_in_later_steps(part: Tensor) -> Tensor:
    """The tensor with the strides that it has after a step, and with a gradient, so that nothing is compiled again."""
    part = part.contiguous()
    return part if part.requires_grad or not torch.is_grad_enabled() else part.detach().requires_grad_()
