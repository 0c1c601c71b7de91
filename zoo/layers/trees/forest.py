"""The trees of a batch as one forest, its lowest nodes first: one batched step per height, without padding or
recursion.

A leaf has height 0, any other node one more than the highest of its children, so that all nodes of one height can be
computed at once from nodes below them. The host knows the number of nodes of each height from the start, so that a
walk over the heights never waits for a device.

Notation: T trees, R of them with a node, N nodes, E = N - R edges, each from a child to its parent, M nodes of the
largest tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from zoo.layers.packing import Cells


class Level(NamedTuple):
    """The nodes of one height, a range of the forest's nodes, and the edges to them, a range of its edges."""

    nodes: slice
    edges: slice


@dataclass(frozen=True)
class Forest:
    """The nodes of all trees and their edges. `Forest.of` builds it, once per batch and on the CPU."""

    sizes: tuple[int, ...]
    """Nodes of each height, leaves first; they sum to N."""
    fans: tuple[int, ...]
    """Children of the nodes of each height, 0 for the leaves; they sum to E."""
    arity: int
    """The most children that a node has."""
    child: Tensor
    """(E,) the lower node of each edge. The edges of a parent are adjacent, in the order of its children."""
    parent: Tensor  # (E,) the upper node of each edge, rising
    slot: Tensor  # (E,) the number of the lower node among the children of its parent, from 0
    cells: Cells
    """The position of each node in a grid (T, M): its row is its tree, its column is its number in the tree."""
    nonempty: Tensor  # (R,) the trees that have a node
    root: Tensor  # (R,) their roots

    @classmethod
    def of(cls, parent: ArrayLike, lengths: ArrayLike) -> Forest:
        """The forest of T trees with `lengths` (T,) nodes, numbered from 0 in each tree. `parent` (N,) is the parent
        of each node in its own tree, -1 for the root; children of one node are in the order of their numbers.

        Raises ValueError if a tree has no root or two, a parent that is not one of its nodes, or a cycle.
        """
        above, length = np.asarray(parent, np.int64), np.asarray(lengths, np.int64)
        first = length.cumsum() - length
        tree = np.arange(len(length)).repeat(length)
        is_root = above < 0
        if not np.array_equal(np.bincount(tree[is_root], minlength=len(length)), length > 0):
            raise ValueError("a tree has one root")
        if (above >= length[tree]).any():
            raise ValueError("a parent is a node of its tree")
        above = np.where(is_root, -1, above + first[tree])
        height = heights(above)
        order = height.argsort(kind="stable")  # lowest first, tree by tree
        position = np.empty_like(order)
        position[order] = np.arange(len(order))

        child = np.flatnonzero(~is_root)
        of_parent = position[above[child]].argsort(kind="stable")
        child = child[of_parent]
        parent_at = position[above[child]]
        begins = np.flatnonzero(np.diff(parent_at, prepend=-1))  # the first edge of each parent
        fan = np.diff(begins, append=len(child))
        slot = np.arange(len(child)) - begins.repeat(fan)
        sizes = np.bincount(height)
        fans = np.bincount(height[above[child]], minlength=len(sizes)) if len(sizes) else sizes

        widest = int(length.max(initial=0))
        tree, number = tree[order], (np.arange(len(order)) - first[tree])[order]
        roots = np.flatnonzero(is_root)
        return cls(
            sizes=tuple(sizes.tolist()),
            fans=tuple(fans.tolist()),
            arity=int(fan.max(initial=0)),
            child=torch.from_numpy(position[child]),
            parent=torch.from_numpy(parent_at),
            slot=torch.from_numpy(slot),
            cells=Cells((len(length), widest), torch.from_numpy(tree * widest + number), torch.from_numpy(tree)),
            nonempty=torch.from_numpy(np.flatnonzero(length)),
            root=torch.from_numpy(position[roots]),
        )

    def __len__(self) -> int:
        """N."""
        return sum(self.sizes)

    @property
    def leaves(self) -> int:
        """Number of nodes without children, which come first."""
        return self.sizes[0] if self.sizes else 0

    def levels(self) -> list[Level]:
        """The heights from 1 on, lowest first."""
        found, node, edge = [], self.leaves, 0
        for size, fan in zip(self.sizes[1:], self.fans[1:], strict=True):
            found.append(Level(slice(node, node + size), slice(edge, edge + fan)))
            node, edge = node + size, edge + fan
        return found

    def slots(self, arity: int) -> Tensor:
        """(N - leaves, `arity`) the children of each inner node, padded with N. Raises ValueError if a node has
        more children."""
        if self.arity > arity:
            raise ValueError(f"a node has {self.arity} children, expected at most {arity}")
        found = self.child.new_full(((len(self) - self.leaves) * arity,), len(self))
        return found.index_copy(0, (self.parent - self.leaves) * arity + self.slot, self.child).view(-1, arity)

    def above(self, arity: int) -> Tensor:
        """(N,) the place of each node in the flat `slots` of all inner nodes; the roots follow after these."""
        places = (len(self) - self.leaves) * arity
        found = torch.arange(places, places + len(self), device=self.child.device)
        found = found.index_copy(0, self.root, found[: len(self.root)])
        return found.index_copy(0, self.child, (self.parent - self.leaves) * arity + self.slot)

    def at_root(self, states: Tensor) -> Tensor:
        """(N, ...) -> (T, ...) the states of the roots, zero for a tree without nodes."""
        found = states.new_zeros(self.cells.shape[0], *states.shape[1:])
        return found.index_copy(0, self.nonempty, states.index_select(0, self.root))


def heights(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """(N,) the height of each node from its parent (N,), -1 for a root. Raises ValueError for a cycle."""
    height = np.full(len(parent), -1)
    open_children = np.bincount(parent[parent >= 0], minlength=len(parent))
    reached, steps = np.flatnonzero(open_children == 0), 0
    while len(reached):
        height[reached] = steps
        above = parent[reached]
        above = above[above >= 0]
        np.subtract.at(open_children, above, 1)
        reached, steps = np.unique(above[open_children[above] == 0]), steps + 1
    if (height < 0).any():
        raise ValueError("a tree has no cycle")
    return height
