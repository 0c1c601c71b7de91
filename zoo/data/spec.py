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


@dataclass(frozen=True)
class PairSpec:
    """Pairs of a source and a target sequence of tokens."""

    source_size: int
    """Rows of the source embedding, the special tokens included."""
    target_size: int
    """Rows of the target embedding and scores of a target position, the special tokens included."""
    longest_source: int
    """Tokens of the longest source that the data lets in, its end included."""
    longest_target: int
    """Tokens of the longest target that the data lets in, its end included."""
    shared: bool = False
    """Both sides are of one vocabulary, so that their embeddings may be one."""
    padding: int = 0
    unknown: int = 1
    begin: int = 2
    """What a decoder reads before the first target token; never predicted."""
    end: int = 3
    """The last token of every source and every target."""


Spec = DocumentSpec | PairSpec  # the union of all families
SPECS: dict[str, type[Spec]] = {cls.__name__: cls for cls in (DocumentSpec, PairSpec)}


def spec_state(spec: Spec) -> dict[str, Any]:
    """`spec` as plain data for a checkpoint."""
    return {"kind": type(spec).__name__, **asdict(spec)}


def spec_from_state(state: dict[str, Any]) -> Spec:
    """The spec that `spec_state` wrote."""
    state = {key: tuple(value) if isinstance(value, list) else value for key, value in state.items()}
    return SPECS[state.pop("kind")](**state)
