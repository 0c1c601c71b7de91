"""What the data is: the facts a network needs to be built. Each family has a frozen dataclass of its own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from zoo.dotted import class_at, name_of


@dataclass(frozen=True)
class Spec:
    """Plain values alone (numbers, text, tuples of them): a spec travels in every checkpoint."""


def spec_state(spec: Spec) -> dict[str, Any]:
    """`spec` as plain data for a checkpoint."""
    return {"class": name_of(type(spec)), **asdict(spec)}


def spec_from_state(state: dict[str, Any]) -> Spec:
    """The spec that `spec_state` wrote. Raises CheckpointError where its class is not here or is no Spec."""
    state = {key: tuple(value) if isinstance(value, list) else value for key, value in state.items()}
    return class_at(state.pop("class"), Spec)(**state)
