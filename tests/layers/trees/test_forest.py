"""Forests against the trees that they are made of."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from zoo.layers.trees.forest import Forest, heights


@st.composite
def trees(draw):
    """Parents of a few trees whose nodes are numbered anyhow, the empty tree among them."""
    found = []
    for size in draw(st.lists(st.integers(0, 9), max_size=5)):
        above = [-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))][:size]
        order = draw(st.permutations(range(size)))
        parent = [-1] * size
        for node, upper in enumerate(above):
            parent[order[node]] = order[upper] if upper >= 0 else -1
        found.append(parent)
    return found


def forest_of(parents):
    return Forest.of([node for tree in parents for node in tree], [len(tree) for tree in parents])


@given(trees())
def test_edges_lead_to_children_in_order(parents):
    forest = forest_of(parents)
    width = max(map(len, parents), default=0)
    named = [divmod(cell, width) for cell in forest.cells.cell.tolist()]  # tree and number of each node
    assert sorted(named) == [(tree, node) for tree, parent in enumerate(parents) for node in range(len(parent))]
    children = {}
    for child, parent, slot in zip(
        *(part.tolist() for part in (forest.child, forest.parent, forest.slot)), strict=True
    ):
        assert child < parent
        tree, node = named[child]
        assert named[parent] == (tree, parents[tree][node])
        below = children.setdefault(parent, [])
        assert slot == len(below)
        below.append(node)
    for below in children.values():
        assert below == sorted(below)
    assert forest.arity == max(map(len, children.values()), default=0)
    assert len(forest) == len(named) == sum(forest.sizes)
    assert sum(forest.fans) == len(forest.child)


@given(trees())
def test_a_level_has_the_nodes_of_one_height_and_all_edges_to_them(parents):
    forest = forest_of(parents)
    height = torch.zeros(len(forest), dtype=torch.long)
    for child, parent in zip(forest.child.tolist(), forest.parent.tolist(), strict=True):
        height[parent] = max(height[parent], height[child] + 1)
    assert not height[: forest.leaves].any()
    for steps, (nodes, edges) in enumerate(forest.levels(), 1):
        assert (height[nodes] == steps).all()
        assert set(forest.parent[edges].tolist()) == set(range(nodes.start, nodes.stop))
        assert (forest.child[edges] < nodes.start).all()


@given(trees())
def test_states_of_the_roots_are_in_the_order_of_the_trees(parents):
    forest = forest_of(parents)
    states = torch.arange(1.0, len(forest) + 1)[:, None]
    found = forest.at_root(states)
    assert len(found) == len(parents)
    tops = dict(zip(forest.nonempty.tolist(), forest.root.tolist(), strict=True))
    for tree, parent in enumerate(parents):
        assert found[tree].item() == (tops[tree] + 1 if parent else 0)
        assert not parent or tops[tree] not in forest.child.tolist()


def test_slots_of_missing_children():
    forest = forest_of([[-1, 0, 0, 0], [-1, 0]])  # leaves 1, 2, 3 and 5; then both roots
    assert forest.sizes == (4, 2)
    assert forest.slots(3).tolist() == [[0, 1, 2], [3, 6, 6]]
    with pytest.raises(ValueError, match="3 children, expected at most 2"):
        forest.slots(2)


@pytest.mark.parametrize(
    ("parent", "lengths", "message"),
    [
        ([-1, -1], [2], "one root"),
        ([1, 0], [2], "one root"),
        ([-1, 2], [2], "a node of its tree"),
        ([-1, 2, 1], [3], "cycle"),
        ([-1, 1], [2], "cycle"),
    ],
)
def test_broken_trees_are_refused(parent, lengths, message):
    with pytest.raises(ValueError, match=message):
        Forest.of(parent, lengths)


def test_a_chain_of_any_length():
    assert heights(np.arange(-1, 4999)).tolist() == list(range(4999, -1, -1))
