"""What the data is: the facts a model needs to be built. One frozen dataclass of plain values per data family."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class DocumentSpec:
    """Documents of sentences of words, each with one class."""

    vocabulary_size: int
    """Rows of the word embedding, the padding and unknown words included."""
    classes: tuple[str, ...]
    """Names of the classes, in the order of the logits."""
    padding: int = 0
    unknown: int = 1

    @property
    def num_classes(self) -> int:
        return len(self.classes)


Spec = DocumentSpec  # the union of all families
SPECS = {cls.__name__: cls for cls in (DocumentSpec,)}


def spec_state(spec: Spec) -> dict[str, Any]:
    """`spec` as plain data for a checkpoint."""
    return {"kind": type(spec).__name__, **asdict(spec)}


def spec_from_state(state: dict[str, Any]) -> Spec:
    """The spec that `spec_state` wrote."""
    state = {key: tuple(value) if isinstance(value, list) else value for key, value in state.items()}
    return SPECS[state.pop("kind")](**state)
