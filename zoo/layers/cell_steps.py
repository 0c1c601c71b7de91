"""A network with a memory, one time step after the other over packed rows, plain or with a compiled cell."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

State = TypeVar("State")


def steps_of_cell(
    cell: Callable[[Tensor, State], State], x: Tensor, sizes: Sequence[int], state: State, *, compiled: bool
) -> list[State]:
    """The states after each step; the first state alone if there is no step.

    Args:
        cell: The state after a step, from its inputs and the state before it.
        x: (n, ...) packed inputs.
        sizes: Rows at each step, falling.
        state: The state before the first step: tensors (rows, ...), or lists of them, in a NamedTuple.
        compiled: The cell is compiled: once for a single row, and once for any other number of rows.
    """
    if compiled:
        state = tree_map(_as_in_later_steps, state)
    states: list[State] = []
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
