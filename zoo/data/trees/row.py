"""What readers and generators of trees give."""

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
    """For each node whether the label of the root can be read off it; None where that is not known."""
    cut: bool = False
    """Words of a text without a tree were left out, since they were too many."""


class Pair(NamedTuple):
    """Two trees and how much they have to do with each other."""

    first: Tree
    second: Tree
    score: float
    place: str
    """File and line, for messages."""
    cut: bool = False
    """Words of a sentence without a tree were left out, since they were too many."""
