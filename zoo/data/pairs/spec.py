"""The facts about pairs that a network is built from."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class PairSpec(Spec):
    """Pairs of a source and a target sequence of tokens."""

    limits = ("longest_source", "longest_target")

    source_size: int
    """Rows of the source embedding, the special tokens included."""
    target_size: int
    """Rows of the target embedding and scores of a target position, the special tokens included."""
    longest_source: int
    """Tokens of the longest source, its end included."""
    longest_target: int
    """Tokens of the longest target, its end included."""
    shared: bool = False
    """Whether both sides have one vocabulary, so that they may share an embedding."""
    padding: int = 0
    unknown: int = 1
    begin: int = 2
    """The input of a decoder before the first target token; it is never predicted."""
    end: int = 3
    """The last token of every source and every target."""
