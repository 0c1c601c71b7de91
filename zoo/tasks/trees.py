"""What the tasks share that read trees: a tree as the network read it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from zoo.data.trees.batch import TreeBatch, TreePairBatch


@dataclass(frozen=True)
class ReadTree:
    """A tree as the network read it."""

    words: tuple[str, ...]
    """Of the sentence."""
    parent: tuple[int, ...]
    """Of each node, -1 of the root; children of one node are in the order of their numbers."""
    word: tuple[int, ...]
    """Which of the words each node has, -1 where it has none."""
    weights: tuple[float, ...] | None
    """Attention to each node, together 1; None where the network has none."""
    unknown: tuple[int, ...] = ()
    """Which of the words the network does not know."""
    built: str | None = None
    """What put the tree on the words: balanced, left, right or a parser's name; None where it was given."""


def read_trees(
    batch: TreeBatch | TreePairBatch, words: list[list[str]], unknown: int, weights: Tensor | None
) -> list[ReadTree]:
    """Each tree of a batch. `words` are those of each sentence as they should be shown, `weights` (T, M)."""
    trees = batch.trees
    of_nodes = None if weights is None else trees.by_tree(trees.forest.cells.pack(weights))
    return [
        ReadTree(
            words=tuple(words[t]),
            parent=tuple(parent),
            word=tuple(word),
            weights=None if of_nodes is None else tuple(of_nodes[t]),
            unknown=tuple(place for place, number in enumerate(ids) if number == unknown),
            built=None if batch.built is None else batch.built[t],
        )
        for t, ((parent, word), ids) in enumerate(zip(trees.plain(), trees.ids(), strict=True))
    ]
