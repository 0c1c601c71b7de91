"""Trees: the facts that a network is built from, and batches: one forest of all trees, and the words at its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain, pairwise
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Batch, Spec
from zoo.layers.trees.forest import Forest

NO_LABEL = -1  # Label of a node without a label


@dataclass(frozen=True)
class TreeSpec(Spec):
    """Trees over the words of sentences."""

    vocabulary_size: Count
    """Rows of the word embedding, including padding and unknown words."""
    arity: Natural
    """The most children of a node."""
    binary: bool
    """Whether each node is a word without children, or has two children and no word."""
    words_inside: bool
    """Whether a node with children may have a word, too."""
    padding: Natural = 0
    unknown: Natural = 1


@dataclass(frozen=True, kw_only=True)
class LabelledTreeSpec(TreeSpec):
    """Trees with a class at every node, or at some."""

    classes: tuple[str, ...]
    """Names of the classes, in the order of the logits."""
    polarity: tuple[int, ...] = ()
    """-1, 0 or 1 for each class that is negative, neutral or positive; empty for classes of another kind."""
    labels: tuple[tuple[str, str], ...] = ()
    """Each label in brackets with the name of its class; empty if the labels are the names."""

    @property
    def num_classes(self) -> int:
        return len(self.classes)


@dataclass(frozen=True, kw_only=True)
class TreePairSpec(TreeSpec):
    """Pairs of trees with a score between two grades."""

    lowest: int = 1
    highest: int = 5

    @property
    def grades(self) -> int:
        """The number of whole scores."""
        return self.highest - self.lowest + 1


@dataclass(frozen=True)
class Trees:
    """T trees over sentences of W words in all. `Trees.of` builds it."""

    forest: Forest
    distinct: Tensor  # (U,) the distinct word ids of the batch
    word_at: Tensor  # (W,) the row in `distinct` of each word of the concatenated sentences
    words_in: Tensor  # (T,) words of each sentence
    node: Tensor  # (K,) the nodes that have a word, in ascending order
    word_of: Tensor  # (K,) the position of the word of each of these nodes, 0 to W - 1
    first: Tensor  # (N,) position of the first word that each node covers
    past: Tensor  # (N,) position after the last word that each node covers

    @classmethod
    def of(cls, parent: ArrayLike, lengths: ArrayLike, word: ArrayLike, words: ArrayLike, words_in: ArrayLike) -> Trees:
        """Build the trees from their nodes, tree by tree.

        Args:
            parent: (N,) the parent of each node, as in `Forest.of`.
            lengths: (T,) nodes of each tree.
            word: (N,) the position of each node's word in its own sentence, -1 for a node without a word.
            words: (W,) word ids of the concatenated sentences.
            words_in: (T,) words of each sentence.
        """
        forest = Forest.of(parent, lengths)
        at, ids, count = np.asarray(word, np.int64), np.asarray(words, np.int64), np.asarray(words_in, np.int64)
        begin = (count.cumsum() - count).repeat(np.asarray(lengths, np.int64))
        at = np.where(at < 0, -1, at + begin)[_given(forest)]
        node = np.flatnonzero(at >= 0)
        first, past = np.where(at < 0, len(ids), at), at + 1
        parents, child = forest.parent.numpy(), forest.child.numpy()
        for _, edges in forest.levels():
            np.minimum.at(first, parents[edges], first[child[edges]])
            np.maximum.at(past, parents[edges], past[child[edges]])
        distinct, word_at = np.unique(ids, return_inverse=True)
        parts = (distinct, word_at, count, node, at[node], first, past)
        return cls(forest, *map(torch.from_numpy, parts))

    def __len__(self) -> int:
        """T."""
        return self.forest.cells.shape[0]

    @property
    def node_mask(self) -> Tensor:
        """(T, M) True at the nodes of each tree, by their numbers in it."""
        cells = self.forest.cells
        return cells.unpack(torch.ones_like(cells.row, dtype=torch.bool))

    @property
    def row(self) -> Tensor:
        """(K,) the row in `distinct` of each node that has a word."""
        return self.word_at.index_select(0, self.word_of)

    def in_forest(self, values: ArrayLike) -> Tensor:
        """Reorder values (N, ...) of the nodes, tree by tree, to the order of the forest."""
        return torch.from_numpy(np.asarray(values)[_given(self.forest)])

    def by_tree(self, values: Tensor) -> list[list[Any]]:
        """The inverse of `in_forest`: the values of each tree's nodes, by their numbers in the tree."""
        cells = self.forest.cells
        ordered = values[cells.cell.argsort()].tolist()
        ends = torch.bincount(cells.row, minlength=len(self)).cumsum(0).tolist()
        return [ordered[begin:end] for begin, end in pairwise([0, *ends])]

    def plain(self) -> list[tuple[list[int], list[int]]]:
        """The parents and the words of each tree's nodes, in the form that `Trees.of` reads."""
        forest, begins = self.forest, self.words_in.cumsum(0) - self.words_in
        number = forest.cells.cell - forest.cells.row * forest.cells.shape[1]  # in its tree
        parent, word = torch.full_like(number, -1), torch.full_like(number, -1)
        parent[forest.child] = number[forest.parent]
        word[self.node] = self.word_of - begins[forest.cells.row[self.node]]
        return list(zip(self.by_tree(parent), self.by_tree(word), strict=True))

    def ids(self) -> list[list[int]]:
        """The word ids of each sentence."""
        return [part.tolist() for part in self.distinct[self.word_at].split(self.words_in.tolist())]

    def chosen(self, rows: Sequence[int]) -> Trees:
        """The trees `rows`, in this order, on the CPU."""
        nodes, ids = self.plain(), self.ids()
        some = [(*nodes[row], ids[row]) for row in rows]
        of_nodes, of_words = ([len(tree[part]) for tree in some] for part in (0, 2))
        parent, word, words = (list(chain.from_iterable(tree[part] for tree in some)) for part in range(3))
        return Trees.of(parent, of_nodes, word, words, of_words)


def _given(forest: Forest) -> NDArray[np.int64]:
    """(N,) the number of each node of the forest, counted tree by tree."""
    return forest.cells.cell.numpy().argsort().argsort()


@dataclass(frozen=True)
class ForestBatch(Batch):
    """Examples of one tree each, or of several that are adjacent."""

    sides: ClassVar[int] = 1
    """The trees of an example."""
    of_nodes: ClassVar[tuple[str, ...]] = ()
    """The fields with a value for each node, in the order of the forest."""

    trees: Trees
    index: Tensor
    """(B,) number of each example in its split."""
    text: tuple[list[str], ...] | None = field(default=None, kw_only=True)
    """The words of each sentence as they were written; not for training."""
    built: tuple[str | None, ...] | None = field(default=None, kw_only=True)
    """The way in which each tree was built, None for a given tree; only when predicting."""

    def __len__(self) -> int:
        return len(self.trees) // self.sides

    @property
    def node_mask(self) -> Tensor:
        """(B, M) True at the nodes of each tree, by their numbers in it; (B, sides, M) for several trees."""
        mask = self.trees.node_mask
        return mask if self.sides == 1 else mask.view(len(self), self.sides, mask.shape[1])

    def chosen(self, rows: Sequence[int]) -> Self:
        """The examples `rows`, in this order, in memory of their own on the CPU."""
        batch, places = self.to("cpu"), [self.sides * row + side for row in rows for side in range(self.sides)]
        trees = batch.trees.chosen(places)
        found: dict[str, Any] = {"trees": trees}
        for name in (part.name for part in fields(self) if part.name != "trees"):
            value = getattr(batch, name)
            if isinstance(value, tuple):  # of each tree
                value = tuple(value[place] for place in places)
            elif value is not None and name in self.of_nodes:
                lists = batch.trees.by_tree(value)
                given = list(chain.from_iterable(lists[place] for place in places))
                value = trees.in_forest(np.array(given, value.numpy().dtype))
            elif value is not None:
                value = value[list(rows)]
            found[name] = value
        return replace(self, **found)

    def first(self, count: int) -> Self:
        return self.chosen(range(min(count, len(self))))


@dataclass(frozen=True)
class TreeBatch(ForestBatch):
    """B trees with a label at every node, or at some."""

    of_nodes = ("label", "evidence")

    label: Tensor | None
    """(N,) class of each node, NO_LABEL for a node without a label; None when predicting."""
    evidence: Tensor | None
    """(N,) True at the nodes that show the label of the root; only for the samples, which know them."""
    typed: tuple[list[str | None], ...] | None = None
    """The typed label of each node of each tree, None without a label; only when predicting."""


@dataclass(frozen=True)
class TreePairBatch(ForestBatch):
    """B pairs of trees with a score each; the trees of pair b are 2 b and 2 b + 1."""

    kept = ("score",)
    sides = 2

    score: Tensor | None
    """(B,) float32, between the grades of the spec; None when predicting."""
