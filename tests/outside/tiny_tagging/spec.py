"""The facts about tagged sequences."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class TaggingSpec(Spec):
    """Sequences of symbols, each symbol with one tag."""

    symbols: int
    """Rows of the embedding, padding (0) included."""
    tags: tuple[str, ...]
    """Names of the tags, in the order of the logits."""
