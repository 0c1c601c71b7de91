"""The facts about data that a network is built from. Each family has a frozen dataclass of its own."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from zoo.dotted import class_at, name_of, named_by_a_checkpoint
from zoo.errors import CheckpointError


@dataclass(frozen=True)
class Spec:
    """Only plain values (numbers, text, tuples of them): a spec is stored in every checkpoint."""

    limits: ClassVar[tuple[str, ...]] = ()
    """Fields that measure the available examples, such as the longest text. They may differ for another test set of the
    same data."""


def spec_state(spec: Spec) -> dict[str, Any]:
    """`spec` as plain data for a checkpoint."""
    return {"class": name_of(type(spec)), **asdict(spec)}


def spec_from_state(state: dict[str, Any]) -> Spec:
    """The spec that `spec_state` wrote. Raises CheckpointError if its class is missing, is not a Spec or has other
    fields."""
    state = {key: tuple(value) if isinstance(value, list) else value for key, value in state.items()}
    with named_by_a_checkpoint():
        cls = class_at(state.pop("class"), Spec)
    try:
        return cls(**state)
    except TypeError as error:
        raise CheckpointError(f"its spec does not fit: {error}") from error
