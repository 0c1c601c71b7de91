"""The rows that readers and generators of trees yield."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zoo.data.trees.tree import Tree


class Labelled(NamedTuple):
    """A tree with labels at its nodes."""

    tree: Tree
    place: str
    """File and line, for messages."""
    evidence: Sequence[bool] | None = None
    """For each node, whether it shows the label of the root; None if that is not known."""
    cut: bool = False
    """Whether words of a text without a tree were left out, because there were too many."""


class Pair(NamedTuple):
    """Two trees and the score of their relatedness."""

    first: Tree
    second: Tree
    score: float
    place: str
    """File and line, for messages."""
    cut: bool = False
    """Whether words of a sentence without a tree were left out, because there were too many."""
