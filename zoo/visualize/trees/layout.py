"""The positions of the nodes of a tree, and the choice of the nodes that are drawn.

No function is recursive, so that a tree of any depth is laid out, in time linear in its nodes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from zoo.predicting.trees import ReadTree

LONGEST_PHRASE = 12  # Words of a phrase that are shown
STRONG, TIMES_EVEN = 0.15, 4
"""The lowest attention with the largest halo. In a large tree it is TIMES_EVEN times the even attention, if that is
less. So even attention stays pale, and is visible in a tree of any size."""
CLEAR, WIDE = 1.16, 2.4  # The inner radius of a halo in radii of its disc; the area of the strongest in areas of a disc


class Family(NamedTuple):
    """The children and the words of each node."""

    order: list[int]  # All nodes from the root down, each before its children
    children: list[list[int]]  # The children of each node, in order
    words: list[int]  # The number of words at each node and below it
    covered: list[list[int]]  # These words in the order of the sentence, at most LONGEST_PHRASE + 1 of them

    @classmethod
    def of(cls, tree: ReadTree) -> Family:
        children: list[list[int]] = [[] for _ in tree.parent]
        for node, above in enumerate(tree.parent):
            if above >= 0:
                children[above].append(node)
        order, waiting = [], [node for node, above in enumerate(tree.parent) if above < 0]
        while waiting:
            order.append(node := waiting.pop())
            waiting += reversed(children[node])
        covered = [[word] if word >= 0 else [] for word in tree.word]
        words = [int(word >= 0) for word in tree.word]
        for node in reversed(order):  # children are complete before they are added to their parent
            covered[node] = sorted(covered[node])[: LONGEST_PHRASE + 1]
            if (above := tree.parent[node]) >= 0:
                covered[above] += covered[node]
                words[above] += words[node]
        return cls(order, children, words, covered)

    def below(self, node: int) -> list[int]:
        """Return a node and its descendants."""
        found = [node]
        for one in found:  # the loop appends to the list that it reads
            found += self.children[one]
        return found

    def phrase(self, node: int, words: Sequence[str], longest: int = LONGEST_PHRASE) -> str:
        """Return the words at and below a node, with an ellipsis for other words between them and after `longest`."""
        places = self.covered[node][:longest]
        gaps = [place > before + 1 for before, place in pairwise(places[:1] + places)]
        parts = ["… " * gap + words[place] for place, gap in zip(places, gaps, strict=True)]
        return " ".join(parts + ["…"] * (self.words[node] > longest))


class Column(NamedTuple):
    """A position on the line of words."""

    node: int  # The drawn node at this position, -1 for a word without a node
    word: int  # The word that gives the column its place in the sentence
    text: str


class Layout(NamedTuple):
    """The nodes that are drawn, their levels, and the columns under them."""

    tree: ReadTree
    family: Family
    nodes: list[int]  # From the root down, each before its children
    folded: frozenset[int]  # Drawn nodes whose descendants are not drawn
    level: dict[int, int]  # The level of each drawn node: 0 is the root's, and larger levels are lower
    levels: int
    columns: list[Column]  # In the order of the sentence
    inside: bool  # Nodes with children have words, as in dependency trees

    def across(self, at: Sequence[float]) -> dict[int, float]:
        """Return the x of each drawn node: `at[k]` at column k, or the middle between the first and the last child."""
        found = {column.node: at[number] for number, column in enumerate(self.columns) if column.node >= 0}
        for node in reversed(self.nodes):
            if node not in found:
                below = [found[child] for child in self.family.children[node]]
                found[node] = (min(below) + max(below)) / 2
        return found

    def edges(self, across: Mapping[int, float]) -> list[list[tuple[float, int]]]:
        """Return the line from each drawn node's parent to the node, as (x, level).

        It is slanted to the level below the parent, then vertical, so that no lines of neighbouring words cross.
        """
        found = []
        for node in self.nodes:
            if (above := self.tree.parent[node]) >= 0:
                x, begin, end = across[node], self.level[above], self.level[node]
                found.append([(across[above], begin), *[(x, begin + 1)] * (end > begin + 1), (x, end)])
        return found


def laid_out(tree: ReadTree, most_columns: int = sys.maxsize, most_levels: int = sys.maxsize) -> Layout:
    """Return the layout of as much of a tree as the limits allow; wide phrases are unfolded first.

    Leaves are on the lowest level, and other nodes as low as their children allow. In dependency trees the level of a
    node is its distance from the root.
    """
    family = Family.of(tree)
    used, shown = 1, set(family.order[:1])
    waiting = [(-family.words[node], 0, node) for node in shown]
    while waiting:
        _, depth, node = heappop(waiting)
        below = family.children[node]
        more = len(below) - (tree.word[node] < 0)
        if below and used + more <= most_columns and depth + 1 < most_levels:
            used += more
            shown.update(below)
            for child in below:
                heappush(waiting, (-family.words[child], depth + 1, child))
    nodes = [node for node in family.order if node in shown]
    folded = frozenset(node for node in nodes if family.children[node] and family.children[node][0] not in shown)
    inside = any(tree.word[node] >= 0 and below for node, below in enumerate(family.children))
    distance, height = {-1: -1}, dict.fromkeys([*nodes, -1], 0)
    for node in nodes:
        distance[node] = distance[tree.parent[node]] + 1
    for node in reversed(nodes):
        height[tree.parent[node]] = max(height[tree.parent[node]], height[node] + 1)
    levels = height[-1]
    level = {node: distance[node] if inside else levels - 1 - height[node] for node in nodes}
    columns = []
    for node in nodes:
        if (word := tree.word[node]) >= 0:
            columns.append(Column(node, word, tree.words[word] + " …" * (node in folded)))
        elif node in folded or not family.children[node]:
            text = family.phrase(node, tree.words, 1) if node in folded else ""
            columns.append(Column(node, min(family.covered[node], default=0), text))
    alone = sorted(set(range(len(tree.words))) - {word for word in tree.word if word >= 0})
    if len(columns) + len(alone) <= most_columns:
        columns += [Column(-1, word, tree.words[word]) for word in alone]
    columns.sort(key=lambda column: column.word)
    return Layout(tree, family, nodes, folded, level, levels, columns, inside)


def strengths(tree: ReadTree) -> list[float] | None:
    """Return the strength of each node's halo from 0 to 1; None where the network has no attention."""
    if tree.weights is None:
        return None
    full = max([min(STRONG, TIMES_EVEN / max(1, len(tree.weights))), *tree.weights])
    return [weight / full for weight in tree.weights]


def halo(size: float, radius: float, strength: float) -> float:
    """Return the radius of the halo around a disc of radius `size`; full strength is WIDE discs of `radius`."""
    return sqrt((CLEAR * size) ** 2 + WIDE * strength * radius**2)


def largest(layout: Layout) -> str:
    """Return the attention of the largest halo that is drawn; empty where there is none."""
    weights = layout.tree.weights
    return f"{max(weights[node] for node in layout.nodes):.2g}" if weights and layout.nodes else ""
