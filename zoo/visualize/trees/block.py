"""A tree as a part of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zoo.visualize.blocks import Block
from zoo.visualize.trees.marks import Mark

if TYPE_CHECKING:
    from zoo.tasks.trees import ReadTree


@dataclass(frozen=True)
class Tree(Block):
    """A sentence with its tree: a disc for each node, with the sign and colour of its class."""

    tree: ReadTree
    labels: Sequence[str] = ()
    """The class of each node; empty where nodes have none."""
    confidence: Sequence[float] = ()
    """The probability of each node's class."""
    marks: Mapping[str, Mark] = field(default_factory=dict)
    """The sign and colour of each class."""
    true: Sequence[str | None] | None = None
    """The true class of each node, None where it has none; None where no true class is known."""
    evidence: Sequence[bool] | None = None
    """True at the nodes that decide the class of the root."""
    links: Mapping[int, tuple[Mark, str]] = field(default_factory=dict)
    """The sign of a node and a fact about it: nodes of two trees with equal signs belong together."""
