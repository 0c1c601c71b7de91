"""Checkpoints written before names changed: the one place that knows old names."""

from __future__ import annotations

from typing import Any

MOVED: dict[str, str] = {}
"""Old dotted names of classes, and the new ones."""


def modernised(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a checkpoint with today's names."""
    content = {key: _renamed(part) if key in ("zoo", "hyper_parameters") else part for key, part in content.items()}
    optimizers = content.get("optimizer_states", [])
    content["lr_schedulers"] = [_triangle(state, optimizers) for state in content.get("lr_schedulers", [])]
    return content


def _renamed(part: Any) -> Any:
    """`part` with the new names wherever an old one stands as a value."""
    if isinstance(part, dict):
        return {key: _renamed(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_renamed(value) for value in part]
    return MOVED.get(part, part) if isinstance(part, str) else part


def _triangle(state: dict[str, Any], optimizers: list[dict[str, Any]]) -> dict[str, Any]:
    """The state of torch's OneCycleLR as that of our SlantedTriangle, which took its place as scheduler=linear."""
    if "_schedule_phases" not in state:
        return state
    tops = [group["max_lr"] for group in optimizers[0]["param_groups"]]
    kept = {"last_epoch", "total_steps", "_step_count", "_last_lr"}
    return {key: value for key, value in state.items() if key in kept} | {"base_lrs": tops}
