"""Positions of nodes: facts that hold for every tree, and trees that are deep, wide, folded or with gaps."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from tests.families.trees import random_binary
from tests.visualize.trees import TEXT, dependency, grown, read
from zoo.predicting.trees import ReadTree
from zoo.visualize.trees.layout import LONGEST_PHRASE, Family, halo, laid_out, largest, strengths


def binary(words, seed):
    """A random constituency tree."""
    parent = random_binary(words, np.random.default_rng(seed))
    leaves = [node not in parent for node in range(len(parent))]
    word = [sum(leaves[:node]) if leaf else -1 for node, leaf in enumerate(leaves)]
    return ReadTree(tuple(f"w{n}" for n in range(words)), tuple(parent), tuple(word), None)


def projective(words, seed):
    """A random dependency tree in which every word covers neighbours."""
    draw, parent = np.random.default_rng(seed), [-1] * words
    waiting = [(0, words, -1)]
    while waiting:
        begin, end, above = waiting.pop()
        while begin < end:  # one or more heads side by side, on the same word
            cut = end if above < 0 else int(draw.integers(begin + 1, end + 1))
            head = int(draw.integers(begin, cut))
            parent[head] = above
            waiting += [(begin, head, head), (head + 1, cut, head)]
            begin = cut
    return dependency(" ".join(f"w{n}" for n in range(words)), parent)


def uneven(layout, seed=0):
    """Columns as far apart as words are wide."""
    return np.cumsum(np.random.default_rng(seed).uniform(0.5, 3, len(layout.columns))).tolist()


def crossings(edges):
    """Pairs of edges that meet elsewhere than at an end of both."""

    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def meet(a, b, c, d):
        sides = side(a, b, c) * side(a, b, d), side(c, d, a) * side(c, d, b)
        return max(sides) < -1e-9

    parts = [(number, *ends) for number, edge in enumerate(edges) for ends in pairwise(edge)]
    return {(m, n) for (m, a, b), (n, c, d) in combinations(parts, 2) if m != n and meet(a, b, c, d)}


RANDOM = [tree(words, seed) for seed, words in enumerate((1, 2, 3, 9, 25, 40)) for tree in (binary, projective)]


@pytest.mark.parametrize("tree", RANDOM, ids=lambda tree: f"{len(tree.words)} words, {len(tree.parent)} nodes")
def test_no_edges_cross_and_children_stand_below(tree):
    layout = laid_out(tree)
    across = layout.across(uneven(layout))
    assert crossings(layout.edges(across)) == set()
    for node, above in enumerate(tree.parent):
        assert above < 0 or layout.level[node] > layout.level[above]
    assert layout.level[tree.parent.index(-1)] == min(layout.level.values()) == 0
    assert len(set(zip(across.values(), layout.level.values(), strict=True))) == len(tree.parent), "one on another"


def test_edges_do_not_cross_where_straight_lines_would_and_leaves_are_on_one_line():
    """Which edges that are bent do not: so that the tests above can fail."""
    left = "(B " * 29 + "b0 " + "".join(f"b{n}) " for n in range(1, 30))
    tree, _ = read(f"(S (A a {left}) c)")
    layout = laid_out(tree)
    edges = layout.edges(layout.across(range(32)))
    assert crossings(edges) == set()
    assert crossings([[edge[0], edge[-1]] for edge in edges])
    tree, _ = read(TEXT)
    layout = laid_out(tree)
    assert [column.text for column in layout.columns] == list(tree.words)
    assert {layout.level[node] for node in layout.nodes if tree.word[node] >= 0} == {layout.levels - 1}
    assert layout.level == {0: 0, 1: 4, 4: 1, 6: 2, 8: 3, 10: 4, **dict.fromkeys((2, 3, 5, 7, 9, 11, 12), 5)}
    tree, _ = read("(S a (X b c d) e)")
    layout = laid_out(tree)
    across = layout.across([0, 1, 5, 7, 8])
    assert [across[node] for node in (0, 2)] == [4, 4]  # between a and e, between b and d
    assert [across[node] for node in (1, 3, 4, 5, 6)] == [0, 1, 5, 7, 8]


def test_in_a_dependency_tree_each_word_has_its_column_and_its_depth():
    tree = dependency("a big dog barks at him", (2, 2, 3, -1, 3, 4))
    layout = laid_out(tree)
    assert layout.inside and [column.node for column in layout.columns] == [0, 1, 2, 3, 4, 5]
    assert layout.across([0, 1, 2, 3, 4, 5]) == {node: node for node in range(6)}
    assert [layout.level[node] for node in range(6)] == [2, 2, 1, 0, 1, 2]
    assert not laid_out(read(TEXT)[0]).inside
    tree = ReadTree(("a", ",", "b"), (1, -1), (0, 2), None)
    assert [(column.node, column.text) for column in laid_out(tree).columns] == [(0, "a"), (-1, ","), (1, "b")]
    layout = laid_out(ReadTree((), (), (), None))
    assert (layout.nodes, layout.columns, layout.levels, layout.across([])) == ([], [], 0, {})


def spine(words):
    """((a b) c) d ..., made without the code that builds such trees, which looks at all words of each phrase."""
    inner = range(words - 1)
    return ReadTree(
        tuple(f"w{n}" for n in range(words)),
        (*range(-1, words - 2), words - 2, *reversed(inner)),
        (-1,) * (words - 1) + tuple(range(words)),
        None,
    )


def chain(nodes):
    """Nodes with one child each above one word."""
    return ReadTree(("word",), tuple(range(-1, nodes - 1)), (-1,) * (nodes - 1) + (0,), None)


@pytest.mark.parametrize("tree", [spine(5000), grown(5000, "right", inside=True), chain(5000)], ids=lambda _: "")
def test_a_deep_tree_is_laid_out(tree):
    layout = laid_out(tree)
    assert layout.levels == 5000
    assert len(layout.edges(layout.across(range(len(layout.columns))))) == len(tree.parent) - 1
    in_order = [column.text for column in layout.columns] == list(tree.words)  # pytest would compare them at length
    assert in_order


def test_phrases_say_where_words_are_left_out_in_linear_time():
    """A walk over all words of each phrase would be 2.5 billion steps here."""
    tree = spine(50_000)
    layout = laid_out(tree)
    assert layout.family.words[layout.nodes[0]] == 50_000
    assert len(layout.family.phrase(layout.nodes[0], tree.words).split()) == LONGEST_PHRASE + 1
    tree = dependency("he saw it today", (1, -1, 1, 1))
    family = Family.of(tree)
    assert family.phrase(1, tree.words) == "he saw it today"
    gap = dependency("a hearing is on it today", (1, 2, -1, 1, 3, 2))  # "on it" belongs to the hearing
    assert Family.of(gap).phrase(1, gap.words) == "a hearing … on it"
    long = grown(20, "right")
    assert Family.of(long).phrase(0, long.words) == " ".join(f"w{n}" for n in range(12)) + " …"
    assert Family.of(long).phrase(0, long.words, 2) == "w0 w1 …"


# folding


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("way", ["balanced", "left", "right"])
def test_what_is_folded_fits(way, inside):
    tree = grown(300, way, inside=inside)
    layout = laid_out(tree, 20, 12)
    assert len(layout.columns) <= 20 and layout.levels <= 12
    assert layout.folded and not {layout.tree.parent[node] for node in layout.nodes} & layout.folded
    missing = set(range(len(tree.parent))) - set(layout.nodes)
    below = {node for node in missing if tree.parent[node] in set(layout.nodes)}
    assert {tree.parent[node] for node in below} == layout.folded
    words = [column.word for column in layout.columns]
    assert words == sorted(words) and len(set(words)) == len(words)
    across = layout.across(uneven(layout))
    assert crossings(layout.edges(across)) == set()


def test_the_widest_is_unfolded_first():
    tree, _ = read("(S (A (B a b) (C c (D d e))) (E f g))")
    assert [column.text for column in laid_out(tree, 3).columns] == ["a …", "c …", "f …"]
    assert [column.text for column in laid_out(tree, 4).columns] == ["a …", "c", "d …", "f …"]
    assert [column.text for column in laid_out(tree, 7).columns] == list("abcdefg")
    assert [column.text for column in laid_out(tree, 1).columns] == ["a …"]
    tree = dependency("a big dog barks", (2, 2, 3, -1))
    assert [column.text for column in laid_out(tree, 2).columns] == ["dog …", "barks"]
    tree = grown(40, "balanced")
    assert laid_out(tree, 40, 40) == laid_out(tree) and not laid_out(tree, 40, 40).folded


# phrases and weights


def test_attention_is_as_strong_as_it_is_high():
    assert strengths(read(TEXT)[0]) is None
    assert strengths(dependency("a b", (1, -1), (0.25, 0.75))) == pytest.approx([1 / 3, 1])
    few = strengths(dependency("a " * 10, (1, -1, *[1] * 8), (0.1,) * 10))
    assert max(few) == pytest.approx(0.1 / 0.15)
    tree = dependency("a big dog barks", (2, 2, 3, -1), (0.6, 0.0, 0.123, 0.277))
    assert largest(laid_out(tree)) == "0.6" and largest(laid_out(tree, 2)) == "0.28"
    assert largest(laid_out(replace(tree, weights=None))) == largest(laid_out(ReadTree((), (), (), ()))) == ""
    empty = halo(12, 12, 0.0)
    assert empty > 12
    rings = [halo(12, 12, strength) ** 2 - empty**2 for strength in (0.25, 0.5, 1.0)]
    assert rings == pytest.approx([rings[2] / 4, rings[2] / 2, rings[2]])


@pytest.mark.parametrize("nodes", [27, 400, 5000])
def test_attention_is_seen_in_a_tree_of_any_size(nodes):
    even = strengths(dependency("a " * nodes, (1, -1, *[1] * (nodes - 2)), (1 / nodes,) * nodes))
    assert even == pytest.approx([1 / 4] * nodes)
