"""Trees as one forest: they can be read back and chosen, and each node covers its own words."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.data.trees.grown import any_trees
from zoo.data.trees.batch import NO_LABEL, TreeBatch, TreePairBatch, Trees
from zoo.data.trees.tree import Tree

SEVERAL = st.lists(any_trees(), max_size=4)
ID = {word: number for number, word in enumerate("edcba", 2)}


def flat(lists):
    return [one for each in lists for one in each]


def forest_of(trees):
    """A list of `Tree` as the trees of a batch."""
    return Trees.of(
        flat(tree.parent for tree in trees),
        [len(tree.parent) for tree in trees],
        flat(tree.word for tree in trees),
        [ID[word] for tree in trees for word in tree.words],
        [len(tree.words) for tree in trees],
    )


def same(one, other):
    """Whether two values are equal, also tensors and dataclasses with some."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other) and one.dtype == other.dtype
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return one == other


@given(SEVERAL)
def test_trees_are_read_back(trees):
    batch = forest_of(trees)
    assert batch.plain() == [(tree.parent, tree.word) for tree in trees]
    assert batch.ids() == [[ID[word] for word in tree.words] for tree in trees]
    assert batch.distinct.tolist() == sorted({ID[word] for tree in trees for word in tree.words})
    most = max((len(tree.parent) for tree in trees), default=0)
    assert batch.node_mask.tolist() == [[node < len(tree.parent) for node in range(most)] for tree in trees]


@given(SEVERAL)
def test_values_follow_their_nodes_in_either_order(trees):
    batch = forest_of(trees)
    names = [[f"{number} {node}" for node in range(len(tree.parent))] for number, tree in enumerate(trees)]
    numbers = np.arange(sum(map(len, names)))
    in_forest = batch.in_forest(numbers)
    assert [[flat(names)[number] for number in part] for part in batch.by_tree(in_forest)] == names
    # a child's parent in the forest is its parent in the tree
    name = [flat(names)[number] for number in in_forest.tolist()]
    edges = {(name[low], name[high]) for low, high in zip(batch.forest.child, batch.forest.parent, strict=True)}
    assert edges == {
        (names[t][node], names[t][above])
        for t, tree in enumerate(trees)
        for node, above in enumerate(tree.parent)
        if above >= 0
    }
    roots = [names[t][tree.root] for t, tree in enumerate(trees) if tree.parent]
    assert [name[root] for root in batch.forest.root] == roots


@given(SEVERAL)
def test_nodes_cover_the_spans_of_their_tree(trees):
    batch = forest_of(trees)
    begin = 0
    for tree, found in zip(trees, batch.by_tree(torch.stack([batch.first, batch.past], 1)), strict=True):
        assert found == [[first + begin, last + begin + 1] for first, last in tree.spans()]
        begin += len(tree.words)


@given(SEVERAL.filter(len), st.data())
def test_chosen_trees_are_a_batch_of_these_trees(trees, data):
    rows = data.draw(st.lists(st.integers(0, len(trees) - 1), max_size=4))
    assert same(forest_of(trees).chosen(rows), forest_of([trees[row] for row in rows]))


# Batches

THREE = [
    Tree(["a", "b"], [-1, 0, 0], [-1, 0, 1], ["2", None, "0"]),
    Tree([], [], [], []),
    Tree(["c"], [-1], [0], ["1"]),
]


def labelled(trees=THREE, **predicting):
    forest = forest_of(trees)
    label = [NO_LABEL if label is None else int(label) for tree in trees for label in tree.label]
    evidence = [label in ("0", "1") for tree in trees for label in tree.label]
    text = tuple(tree.words for tree in trees)
    parts = forest.in_forest(np.array(label, int)), forest.in_forest(np.array(evidence, bool))
    return TreeBatch(forest, torch.arange(10, 10 + len(trees)), *parts, text=text, **predicting)


@pytest.mark.parametrize("rows", [[0], [2], [2, 0], [1], [0, 1, 2], []])
def test_chosen_trees_keep_their_labels_and_texts(rows):
    typed = tuple(tree.label for tree in THREE)
    batch = labelled(built=("left", None, "right"), typed=typed).chosen(rows)
    assert batch.index.tolist() == [10 + row for row in rows]
    assert batch.text == tuple(THREE[row].words for row in rows)
    assert batch.built == tuple(("left", None, "right")[row] for row in rows)
    assert batch.typed == tuple(THREE[row].label for row in rows)
    labels = [[NO_LABEL if label is None else int(label) for label in THREE[row].label] for row in rows]
    assert batch.trees.by_tree(batch.label) == labels
    assert batch.trees.by_tree(batch.evidence) == [[label in (0, 1) for label in part] for part in labels]
    assert batch.node_mask.sum(1).tolist() == [len(part) for part in labels]


def test_the_first_trees_share_no_memory_with_the_batch():
    batch = labelled()
    first = batch.first(2)
    assert same(first, batch.chosen([0, 1]))
    assert len(batch.first(99)) == 3
    first.index.zero_(), first.label.zero_(), first.trees.distinct.zero_()
    assert same(batch, labelled())
    bare = TreeBatch(forest_of(THREE), torch.arange(3), None, None).first(1)
    assert (bare.label, bare.evidence, bare.text, bare.built) == (None, None, None, None)


def test_pairs_stay_together():
    trees = [*THREE, THREE[0]]
    text, built = tuple(tree.words for tree in trees), ("left", None, "right", "left")
    batch = TreePairBatch(forest_of(trees), torch.tensor([7, 8]), torch.tensor([1.5, 4.0]), text=text, built=built)
    assert len(batch) == 2
    assert batch.node_mask.sum(2).tolist() == [[3, 0], [1, 3]]
    score = torch.tensor([4.0])
    last = TreePairBatch(forest_of(trees[2:]), torch.tensor([8]), score, text=text[2:], built=built[2:])
    assert same(batch.chosen([1]), last)
    assert same(batch.first(5), batch)
    batch.first(2).score.zero_()
    assert batch.score.tolist() == [1.5, 4.0]
    assert batch.cast(torch.bfloat16).score.dtype == torch.float32  # results are judged by it
    assert TreePairBatch(forest_of(trees), torch.arange(2), None).first(1).score is None
