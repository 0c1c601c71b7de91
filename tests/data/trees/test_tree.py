"""Trees as plain data: facts by brute force, trees that are built on words, and binarised trees as by NLTK."""

import random

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.trees.grown import NESTED, any_trees, covered, grown, joined, seen
from zoo.data.trees.tree import BUILDERS, Tree, binarised, build

MANY = 5000
"""A number of words at which a recursive function fails."""


def built(count, way, *, inside=False, label=None):
    return build(list("abcde"[:count]) if count <= 5 else ["w"] * count, BUILDERS[way], inside=inside, label=label)


# Trees that are built on words


@pytest.mark.parametrize(
    ("way", "binary", "parents"),
    [
        ("balanced", "a (a b) ((a b) c) (((a b) c) (d e))", [[-1], [1, -1], [1, -1, 1], [1, 2, -1, 4, 2]]),
        ("left", "a (a b) ((a b) c) ((((a b) c) d) e)", [[-1], [1, -1], [1, 2, -1], [1, 2, 3, 4, -1]]),
        ("right", "a (a b) (a (b c)) (a (b (c (d e))))", [[-1], [-1, 0], [-1, 0, 1], [-1, 0, 1, 2, 3]]),
    ],
)
def test_trees_by_hand(way, binary, parents):
    assert " ".join(joined(built(count, way)) for count in (1, 2, 3, 5)) == binary
    assert built(3, way, label="good").label == ["good", *[None] * 4]
    for count, expected in zip((1, 2, 3, 5), parents, strict=True):
        tree = built(count, way, inside=True, label="good")
        assert (tree.parent, tree.word) == (expected, list(range(count)))
        assert tree.label == ["good" if above < 0 else None for above in expected]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("way", BUILDERS)
def test_many_words(way, inside):
    tree = built(MANY, way, inside=inside)
    assert tree.spans()[tree.root] == (0, MANY - 1)
    assert tree.from_top().root == 0
    binary = binarised(tree)
    assert binary.binary
    assert [word for word in binary.word if word >= 0] == list(range(MANY))


def test_a_long_chain():
    chain = Tree(["a"], [-1, *range(MANY)], [*[-1] * MANY, 0], [None] * MANY + ["good"])
    assert chain.spans() == [(0, 0)] * (MANY + 1)
    assert binarised(chain) == Tree(["a"], [-1], [0], ["good"])
    assert Tree(["a", "b"], [-1, 0], [1, -1], [None] * 2).spans() == [(1, 1), (2, -1)]  # the second node has no words


# Facts of a tree


@given(any_trees())
def test_facts(tree):
    children = [[node for node, above in enumerate(tree.parent) if above == each] for each in range(len(tree.parent))]
    assert tree.children == children
    assert tree.arity == max(map(len, children), default=0)
    shapes = {(len(below), tree.word[node] >= 0) for node, below in enumerate(children)}
    assert tree.binary == (shapes <= {(0, True), (2, False)})
    words = covered(tree)
    assert tree.spans() == [(min(each, default=len(tree.words)), max(each, default=-1)) for each in words]


@given(NESTED, st.randoms(use_true_random=False))
def test_from_the_top_is_independent_of_the_numbers_before(nested, draw):
    tree = grown(nested)
    order = list(range(len(tree.parent)))
    draw.shuffle(order)
    assert tree.from_top() == tree
    assert tree.numbered(order).from_top() == tree


# Two children


def by_nltk(tree, one=None):
    """A tree of NLTK, in which each word is below a node of its own."""
    label, word, below = seen(tree) if one is None else one
    parts = [by_nltk(tree, child) for child in below]
    if not below:
        return nltk.Tree(label or "", [word])
    if word is not None:
        before = sum(int(part.leaves()[0][1:]) < int(word[1:]) for part in parts)
        parts.insert(before, nltk.Tree("", [word]))
    return nltk.Tree(label or "", parts)


def from_nltk(tree):
    """(label, word, children) of NLTK's binary tree. "" and `A|<B-C>` are not labels; of `A+B` the first one counts."""
    names = [] if "|" in tree.label() else [name for name in tree.label().split("+") if name]
    leaf = isinstance(tree[0], str)
    return (names or [None])[0], tree[0] if leaf else None, [] if leaf else [from_nltk(child) for child in tree]


@given(NESTED)
def test_binarised_trees_are_nltks(nested):
    tree = grown(nested)
    expected = by_nltk(tree)
    expected.collapse_unary(collapsePOS=True, collapseRoot=True)
    expected.chomsky_normal_form(factor="right")
    binary = binarised(tree)
    assert seen(binary) == from_nltk(expected)
    assert binary.binary
    assert binary.words == tree.words
    assert [word for word in binary.word if word >= 0] == list(range(len(tree.words)))
    assert binary == binary.from_top()
    assert binarised(binary) == binary


def test_the_given_tree_is_not_changed():
    tree = grown(("S", 1, [("A", 0, []), ("B", None, [("C", 0, [])]), ("D", 0, [])]))
    before = Tree(*(list(part) for part in tree))
    binarised(tree)
    tree.from_top()
    tree.numbered(random.Random(1).sample(range(len(tree.parent)), len(tree.parent)))
    assert tree == before
