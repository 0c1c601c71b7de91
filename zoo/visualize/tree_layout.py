"""Where the nodes of a tree stand, and which of them are drawn. No function calls itself: a tree of any depth is laid
out, in time linear in its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from zoo.tasks.trees import ReadTree

Point = tuple[float, float]
LONGEST_PHRASE = 12
"""Words of a phrase that are told."""
STRONG, TIMES_EVEN = 0.15, 4
"""Attention that is shown at its strongest, in a large tree so many times the even one, or the tree's highest where
that is more: even attention stays pale, and is seen in a tree of any size."""
CLEAR, WIDE = 1.16, 2.4
"""Around a disc, in its radii, a halo begins; the strongest is so many times as large as a disc."""


class Family(NamedTuple):
    """Who hangs on whom."""

    order: list[int]
    """All nodes from the root down, each before its children."""
    children: list[list[int]]
    """Of each node, in order."""
    covered: list[list[int]]
    """The words at each node and below it, in the order of the sentence, one more than LONGEST_PHRASE at most."""
    words: list[int]
    """How many words that are in truth."""

    @classmethod
    def of(cls, tree: ReadTree) -> Family:
        children: list[list[int]] = [[] for _ in tree.parent]
        for node, above in enumerate(tree.parent):
            if above >= 0:
                children[above].append(node)
        order = []
        waiting = [node for node, above in enumerate(tree.parent) if above < 0]
        while waiting:
            node = waiting.pop()
            order.append(node)
            waiting += reversed(children[node])
        covered = [[word] if word >= 0 else [] for word in tree.word]
        words = [int(word >= 0) for word in tree.word]
        for node in reversed(order):  # children are complete before they are added to their parent
            covered[node] = sorted(covered[node])[: LONGEST_PHRASE + 1]
            if (above := tree.parent[node]) >= 0:
                covered[above] += covered[node]
                words[above] += words[node]
        return cls(order, children, covered, words)

    def phrase(self, node: int, words: Sequence[str], longest: int = LONGEST_PHRASE) -> str:
        """The words at a node and below it, … for what stands between them and is not below it, and for what is more
        than `longest` words."""
        told: list[str] = []
        last = None
        for place in self.covered[node][:longest]:
            told += ["…"] * (last is not None and place > last + 1) + [words[place]]
            last = place
        return " ".join(told + ["…"] * (self.words[node] > longest))


class Column(NamedTuple):
    """A place on the line of words."""

    node: int
    """The drawn node that stands there, -1 for a word at no node."""
    word: int
    """The word by which it has its place in the sentence."""
    text: str


class Layout(NamedTuple):
    """The nodes that are drawn, the levels that they stand on, and the columns under them."""

    tree: ReadTree
    family: Family
    nodes: list[int]
    """From the root down, each before its children."""
    folded: frozenset[int]
    """Drawn nodes of which what is below is not drawn."""
    level: dict[int, int]
    """Of each drawn node, 0 of the root, the larger the lower."""
    columns: list[Column]
    """In the order of the sentence."""
    inside: bool
    """Nodes with children have words, as in dependency trees."""

    @property
    def levels(self) -> int:
        return max(self.level.values(), default=-1) + 1

    def children(self, node: int) -> list[int]:
        """Those that are drawn."""
        return [] if node in self.folded else self.family.children[node]

    def across(self, at: Sequence[float]) -> dict[int, float]:
        """How far right each drawn node stands, where column k is at `at[k]`: at its column, or above the middle
        between its first child and its last."""
        found = {column.node: at[number] for number, column in enumerate(self.columns) if column.node >= 0}
        for node in reversed(self.nodes):
            if node not in found:
                below = [found[child] for child in self.children(node)]
                found[node] = (min(below) + max(below)) / 2
        return found

    def edges(self, across: Mapping[int, float]) -> list[list[Point]]:
        """The line from each drawn node's parent to it, in levels: aslant to the level below the parent, and from there
        straight down. What hangs on other nodes is on no such way as long as each node covers neighbouring words."""
        found = []
        for node in self.nodes:
            if (above := self.tree.parent[node]) >= 0:
                x, begin, end = across[node], self.level[above], self.level[node]
                bent = [(x, float(begin + 1))] if end > begin + 1 else []
                found.append([(across[above], float(begin)), *bent, (x, float(end))])
        return found

    def missing(self) -> list[int]:
        """The nodes that are not drawn."""
        drawn = set(self.nodes)
        return [node for node in self.family.order if node not in drawn]


def laid_out(tree: ReadTree, most_columns: int | None = None, most_levels: int | None = None) -> Layout:
    """The whole tree, or, with limits, as much of it as they allow: what covers most words is unfolded first.

    Words at the leaves alone stand on the lowest level, each other node as low as it can above its children. Where
    nodes with children have words (dependencies), every node stands as many levels below the root as it is away from
    it.
    """
    family = Family.of(tree)
    inside = any(tree.word[node] >= 0 and below for node, below in enumerate(family.children))
    nodes, folded = _drawn(tree, family, most_columns, most_levels)
    level = _levels(tree, nodes, inside)
    columns = []
    for node in nodes:
        if node in folded or tree.word[node] >= 0 or not family.children[node]:
            word = tree.word[node] if tree.word[node] >= 0 else min(family.covered[node], default=0)
            columns.append(Column(node, word, _under(tree, family, node, node in folded)))
    alone = sorted(set(range(len(tree.words))) - {word for word in tree.word if word >= 0})
    if most_columns is None or len(columns) + len(alone) <= most_columns:
        columns += [Column(-1, word, tree.words[word]) for word in alone]
    return Layout(tree, family, nodes, folded, level, sorted(columns, key=lambda column: column.word), inside)


def strengths(tree: ReadTree) -> list[float] | None:
    """How strongly to show the attention to each node, 0 to 1; None where the network has none."""
    if tree.weights is None:
        return None
    full = max([min(STRONG, TIMES_EVEN / max(1, len(tree.weights))), *tree.weights])
    return [weight / full for weight in tree.weights]


def halo(size: float, radius: float, strength: float) -> float:
    """The radius of the halo around a disc of the radius `size`, of which the area from CLEAR on goes by the strength:
    1 is WIDE discs of the radius `radius`."""
    return sqrt((CLEAR * size) ** 2 + WIDE * strength * radius**2)


def largest(layout: Layout) -> str:
    """The attention of the largest halo that is drawn, which is the scale of all; empty where there is none."""
    weights = layout.tree.weights
    return f"{max(weights[node] for node in layout.nodes):.2g}" if weights and layout.nodes else ""


def _under(tree: ReadTree, family: Family, node: int, is_folded: bool) -> str:
    """What stands below a node."""
    if not is_folded:
        return tree.words[tree.word[node]] if tree.word[node] >= 0 else ""
    if tree.word[node] >= 0:
        return f"{tree.words[tree.word[node]]} …"
    return family.phrase(node, tree.words, 1)


def _drawn(
    tree: ReadTree, family: Family, most_columns: int | None, most_levels: int | None
) -> tuple[list[int], frozenset[int]]:
    """The nodes that are drawn, and those of them that are folded."""
    if most_columns is None and most_levels is None:
        return family.order, frozenset()
    columns = 1
    shown, folded = set(family.order[:1]), set()
    waiting = [(-family.words[node], 0, node) for node in family.order[:1]]
    while waiting:
        _, depth, node = heappop(waiting)
        below = family.children[node]
        more = len(below) - (tree.word[node] < 0)
        if not below:
            continue
        if (most_columns is not None and columns + more > most_columns) or depth + 1 == most_levels:
            folded.add(node)
            continue
        columns += more
        for child in below:
            shown.add(child)
            heappush(waiting, (-family.words[child], depth + 1, child))
    return [node for node in family.order if node in shown], frozenset(folded)


def _levels(tree: ReadTree, nodes: Sequence[int], inside: bool) -> dict[int, int]:
    if inside:
        depth: dict[int, int] = {}
        for node in nodes:
            above = tree.parent[node]
            depth[node] = depth[above] + 1 if above >= 0 else 0
        return depth
    height = dict.fromkeys(nodes, 0)
    for node in reversed(nodes):
        if (above := tree.parent[node]) >= 0:
            height[above] = max(height[above], height[node] + 1)
    top = max(height.values(), default=0)
    return {node: top - height[node] for node in nodes}
