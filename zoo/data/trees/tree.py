"""A tree over the words of one sentence, as plain data, and the ways to build one.

Nodes are numbered from 0; the children of a node are in the order of their numbers. No function here is recursive, so
that a tree may have any depth.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np


class Tree(NamedTuple):
    """The words of a sentence and the nodes of its tree."""

    words: list[str]
    """All words in order; a word without a node is not in the tree."""
    parent: list[int]
    """The parent of each node, -1 of the root."""
    word: list[int]
    """The position in `words` of the word of each node, -1 for a node without a word."""
    label: list[str | None]
    """Label of each node, or None."""

    @property
    def children(self) -> list[list[int]]:
        """The children of each node, in order."""
        found: list[list[int]] = [[] for _ in self.parent]
        for node, above in enumerate(self.parent):
            if above >= 0:
                found[above].append(node)
        return found

    @property
    def root(self) -> int:
        return self.parent.index(-1)

    @property
    def arity(self) -> int:
        """The most children that a node has."""
        return int(np.bincount([above for above in self.parent if above >= 0]).max(initial=0))

    @property
    def binary(self) -> bool:
        """Whether each node is a word without children, or has two children and no word."""
        return all(len(below) == (2 if word < 0 else 0) for below, word in zip(self.children, self.word, strict=True))

    def numbered(self, order: Sequence[int]) -> Self:
        """Renumber the nodes: node `order[0]` becomes number 0, and so on."""
        number = {node: new for new, node in enumerate(order)} | {-1: -1}
        return self._replace(
            parent=[number[self.parent[node]] for node in order],
            word=[self.word[node] for node in order],
            label=[self.label[node] for node in order],
        )

    def from_top(self) -> Self:
        """Number each node before its children, and these from left to right by the words that they cover."""
        first, below = [first for first, _ in self.spans()], self.children
        order, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            order.append(node)
            waiting += sorted(below[node], key=lambda child: (first[child], child), reverse=True)
        return self.numbered(order)

    def spans(self) -> list[tuple[int, int]]:
        """The first and the last of the words at each node or below it."""
        below, order = self.children, [self.root] if self.parent else []
        for node in order:  # from the top; the loop appends to the list that it reads
            order += below[node]
        found = [(word, word) if word >= 0 else (len(self.words), -1) for word in self.word]
        for node in reversed(order):
            if self.parent[node] >= 0:
                (first, last), (upper_first, upper_last) = found[node], found[self.parent[node]]
                found[self.parent[node]] = min(first, upper_first), max(last, upper_last)
        return found


class Labelled(NamedTuple):
    """A row of labelled trees."""

    tree: Tree
    place: str
    """File and line, for messages."""
    evidence: Sequence[bool] | None = None
    """For each node, whether it shows the label of the root; None if that is not known."""


class Pair(NamedTuple):
    """A row of two trees and the score of their relatedness."""

    first: Tree
    second: Tree
    score: float
    place: str  # File and line, for messages


class Builder(NamedTuple):
    """A method to build a tree on words: its functions divide the words from `first` up to, not including, `past`."""

    middle: Callable[[int, int], int]
    """The first word of the right half, in a binary tree."""
    head: Callable[[int, int], int]
    """The word above all others, in a tree with a word at every node."""


BUILDERS = {
    "balanced": Builder(lambda first, past: (first + past + 1) // 2, lambda first, past: (first + past) // 2),
    "left": Builder(lambda first, past: past - 1, lambda first, past: past - 1),
    "right": Builder(lambda first, past: first + 1, lambda first, past: first),
}
"""Trees that need no parser: (a b) (c d), ((a b) c) d, a (b (c d)).

With a word at every node, the head is the middle word, the last word or the first word.
"""


def build(words: Sequence[str], builder: Builder, *, inside: bool, label: str | None = None) -> Tree:
    """Build a tree on one or more words: binary, or with `inside` with a word at every node; the root has the label."""
    count = len(words)
    parent, word = ([-1] * count, list(range(count))) if inside else ([], [])
    waiting = [(0, count, -1)]
    while waiting:
        first, past, above = waiting.pop()
        if inside and first < past:
            head = builder.head(first, past)
            parent[head] = above
            waiting += [(first, head, head), (head + 1, past, head)]
        elif not inside:
            node, leaf = len(parent), past - first == 1
            parent.append(above)
            word.append(first if leaf else -1)
            middle = builder.middle(first, past)
            waiting += [] if leaf else [(middle, past, node), (first, middle, node)]
    labels: list[str | None] = [None] * len(parent)
    labels[parent.index(-1)] = label
    return Tree(list(words), parent, word, labels)


def flat(words: list[str], label: str | None = None) -> Tree:
    """A tree with all words below its root, for texts whose trees are built later."""
    count = len(words)
    return Tree(words, [-1, *[0] * count], [-1, *range(count)], [label, *[None] * count])


def binarised(tree: Tree) -> Tree:
    """Give each inner node two children.

    A node with one child is merged with it, and the upper label counts if both have one. Further children are joined
    by new nodes without a label: (a (b c)). A word at a node with children becomes a child at its place.
    """
    parent, word, label = list(tree.parent), list(tree.word), list(tree.label)
    below, spans = tree.children, tree.spans()

    def new(above: int, its_word: int, children: list[int]) -> int:
        parent.append(above)
        word.append(its_word)
        label.append(None)
        below.append(children)
        return len(parent) - 1

    order, waiting = [], [tree.root]
    while waiting:
        node = waiting.pop()
        while len(below[node]) == 1 and word[node] < 0:
            (child,) = below[node]
            word[node], below[node] = word[child], below[child]
            label[node] = label[child] if label[node] is None else label[node]
        if below[node] and word[node] >= 0:
            place = sum(spans[child][0] < word[node] for child in below[node])
            below[node].insert(place, new(node, word[node], []))
            word[node] = -1
        while len(below[node]) > 2:
            *first, left, right = below[node]
            below[node] = [*first, new(node, -1, [left, right])]
        order.append(node)
        waiting += reversed(below[node])
    for node in order:
        for child in below[node]:
            parent[child] = node
    return Tree(tree.words, parent, word, label).numbered(order)
