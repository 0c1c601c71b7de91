"""The facts that a network needs about a stream of characters."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class StreamSpec(Spec):
    """A text of characters."""

    symbols: int
    """Rows of the embedding: the characters, and 0 for padding and for the beginning of the text."""
