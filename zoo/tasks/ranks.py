"""State that differs between the processes of a run, gathered for a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.distributed as dist
from torch import Tensor


def from_all_ranks(value: Any) -> list[Any]:
    """The `value` of every process, in the order of their ranks. Every process has to call it."""
    if not (dist.is_available() and dist.is_initialized()):
        return [value]
    values: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


def map_tensors(state: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """`state` with `change` applied to its tensors, at any depth of its dicts, lists and tuples."""
    if isinstance(state, Tensor):
        return change(state)
    if isinstance(state, dict):
        return {name: map_tensors(part, change) for name, part in state.items()}
    if isinstance(state, list | tuple):
        parts = [map_tensors(part, change) for part in state]
        return type(state)(*parts) if hasattr(state, "_fields") else type(state)(parts)
    return state
