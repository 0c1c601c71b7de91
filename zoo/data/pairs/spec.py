"""What pairs are: the facts that a network for them is built from."""

from __future__ import annotations

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
