"""What the data is: the facts a network needs to be built. Each family has a frozen dataclass of its own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from zoo.dotted import class_at, name_of, named_by_a_checkpoint
from zoo.errors import CheckpointError


@dataclass(frozen=True)
class Spec:
    """Plain values alone (numbers, text, tuples of them): a spec travels in every checkpoint."""

    limits: ClassVar[tuple[str, ...]] = ()
    """The fields that say how large the examples are which happen to be there, such as the longest text: another test
    set of the same data may have others."""


def spec_state(spec: Spec) -> dict[str, Any]:
    """`spec` as plain data for a checkpoint."""
    return {"class": name_of(type(spec)), **asdict(spec)}


def spec_from_state(state: dict[str, Any]) -> Spec:
    """The spec that `spec_state` wrote. Raises CheckpointError where its class is not here, is no Spec or has other
    fields."""
    state = {key: tuple(value) if isinstance(value, list) else value for key, value in state.items()}
    with named_by_a_checkpoint():
        cls = class_at(state.pop("class"), Spec)
    try:
        return cls(**state)
    except TypeError as error:
        raise CheckpointError(f"its spec does not fit: {error}") from error
