"""A tree as the network read it, for all tasks on trees."""

from dataclasses import dataclass

from torch import Tensor

from zoo.data.trees.batch import TreeBatch, TreePairBatch


@dataclass(frozen=True)
class ReadTree:
    """A tree as the network read it."""

    words: tuple[str, ...]  # The words of the sentence
    parent: tuple[int, ...]
    """The parent of each node, -1 at the root. The children of a node are in the order of their numbers."""
    word: tuple[int, ...]  # The number of the word at each node, -1 at a node without a word
    weights: tuple[float, ...] | None  # Attention to each node, with the sum 1; None where the network has no attention
    unknown: tuple[int, ...] = ()  # The numbers of the words that are not in the vocabulary
    built: str | None = None
    """The origin of the tree: balanced, left, right or a parser's name; None where the tree was given."""


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
