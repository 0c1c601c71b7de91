"""A tree over the words of one sentence, as plain data, and the ways to read and to build one.

Nodes are numbered from 0, the children of a node in the order of their numbers. No function here calls itself: a tree
of any depth is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np


class Tree(NamedTuple):
    """Its words and how they hang together."""

    words: list[str]
    """Words of the whole sentence in order; a word without a node is not in the tree."""
    parent: list[int]
    """The parent of each node, -1 of the root."""
    word: list[int]
    """For each node which of `words` it has, -1 where it has none."""
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
        """Each node is a word without children, or has two children and no word."""
        return all(len(below) == (2 if word < 0 else 0) for below, word in zip(self.children, self.word, strict=True))

    def numbered(self, order: Sequence[int]) -> Self:
        """The same with node `order[0]` as number 0, and so on."""
        number = {node: new for new, node in enumerate(order)} | {-1: -1}
        return self._replace(
            parent=[number[self.parent[node]] for node in order],
            word=[self.word[node] for node in order],
            label=[self.label[node] for node in order],
        )

    def from_top(self) -> Self:
        """The same with each node numbered before its children, and these from left to right by the words that they
        cover."""
        first, below = [first for first, _ in self.spans()], self.children
        order, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            order.append(node)
            waiting += sorted(below[node], key=lambda child: (first[child], child), reverse=True)
        return self.numbered(order)

    def spans(self) -> list[tuple[int, int]]:
        """The first and the last of the words that stand at each node or below it."""
        below, order = self.children, [self.root] if self.parent else []
        for node in order:  # from the top; those below a node are added on the way
            order += below[node]
        found = [(word, word) if word >= 0 else (len(self.words), -1) for word in self.word]
        for node in reversed(order):
            if self.parent[node] >= 0:
                (first, last), (upper_first, upper_last) = found[node], found[self.parent[node]]
                found[self.parent[node]] = min(first, upper_first), max(last, upper_last)
        return found


class Builder(NamedTuple):
    """A way to put a tree on words that have none."""

    constituents: Callable[[int], list[int]]
    """Parents of the 2 n - 1 nodes of a binary tree over n words, the first n of which are the words."""
    dependencies: Callable[[int], list[int]]
    """Parents of n words."""


def build(words: Sequence[str], builder: Builder, *, inside: bool, label: str | None = None) -> Tree:
    """The tree that `builder` puts on one or more words, each at a node that may have children where `inside` is True;
    the root has the label."""
    count = len(words)
    parent = builder.dependencies(count) if inside else builder.constituents(count)
    labels: list[str | None] = [None] * len(parent)
    labels[parent.index(-1)] = label
    tree = Tree(list(words), parent, [*range(count), *[-1] * (len(parent) - count)], labels)
    return tree if inside else tree.from_top()


def _joined(count: int, pairs: Callable[[int], list[tuple[int, int, int]]]) -> list[int]:
    parent = [-1] * (2 * count - 1)
    for left, right, above in pairs(count):
        parent[left] = parent[right] = above
    return parent


def _left(count: int) -> list[tuple[int, int, int]]:
    """((a b) c) d."""
    return [(0 if k == 1 else count + k - 2, k, count + k - 1) for k in range(1, count)]


def _right(count: int) -> list[tuple[int, int, int]]:
    """a (b (c d))."""
    return [(count - 1 - k, count - 1 if k == 1 else count + k - 2, count + k - 1) for k in range(1, count)]


def _balanced(count: int) -> list[tuple[int, int, int]]:
    """(a b) (c d), the left half being the larger one."""
    found, waiting, free = [], [(0, count, 2 * count - 2)], 2 * count - 3
    while waiting:
        first, past, node = waiting.pop()
        if past - first == 1:
            continue
        middle, pair = first + (past - first + 1) // 2, []
        for begin, end in ((first, middle), (middle, past)):
            pair.append(begin if end - begin == 1 else free)
            free -= end - begin > 1
            waiting.append((begin, end, pair[-1]))
        found.append((pair[0], pair[1], node))
    return found


def _halves(count: int) -> list[int]:
    """The word in the middle above those of its two halves."""
    parent, waiting = [-1] * count, [(0, count, -1)]
    while waiting:
        first, past, above = waiting.pop()
        if first < past:
            middle = (first + past) // 2
            parent[middle] = above
            waiting += [(first, middle, middle), (middle + 1, past, middle)]
    return parent


BUILDERS = {
    "balanced": Builder(lambda count: _joined(count, _balanced), _halves),
    "left": Builder(lambda count: _joined(count, _left), lambda count: [*range(1, count), -1]),
    "right": Builder(lambda count: _joined(count, _right), lambda count: [-1, *range(count - 1)]),
}
"""Trees that need no parser. As dependencies, `left` has each word hang on the next one, `right` on the one before."""


def binarised(tree: Tree) -> Tree:
    """The same with two children at each node that has any. A node with one child becomes one with it, and the label
    that counts is the upper one where there are two; of more children all but the first are joined by nodes without a
    label, (a (b c)); a word at a node with children becomes one of them, where it stands among them."""
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
