"""The generated treebank: its labels follow from the words by the rules, and only from their trees."""

from collections import Counter
from importlib import import_module

import numpy as np
import pytest

from tests.data.trees.grown import covered
from zoo.data.trees.brackets import parse
from zoo.data.trees.samples import lexicon
from zoo.data.trees.samples.sentiment import CATEGORIES, LENGTHS, generate, labelled

SOME = list(generate(400, seed=7))
TREES = [row.tree for row in SOME]
WORTH = {word: value for kind in lexicon.WORTH.values() for value, words in kind.items() for word in words.split()}


def tree(brackets):
    """The tree of words in brackets: `((not good) (and clever))`."""
    return parse(brackets.replace("(", "(_ ") if brackets.startswith("(") else f"(_ {brackets})")


def phrases(tree):
    """The words of each node."""
    return [[tree.words[word] for word in sorted(words)] for words in covered(tree)]


# Trees and their words


def test_trees_are_binary_and_numbered_from_the_top():
    content = {word for category in (*lexicon.WORTH, "thing") for word in CATEGORIES[category]}
    for tree, place, evidence in SOME:
        assert place == "" and tree.binary and tree == tree.from_top()
        assert [word for word in tree.word if word >= 0] == list(range(len(tree.words)))
        assert len(tree.label) == len(evidence) == len(tree.parent) == 2 * len(tree.words) - 1
        assert LENGTHS[0] <= len(tree.words) <= LENGTHS[1]
        assert max(Counter(word for word in tree.words if word in content).values()) == 1  # no content word twice


def test_a_word_has_one_meaning():
    operators = lexicon.OPERATORS.values()
    groups = [{*WORTH}, {"but", "although"}, *({*words.split()} for kinds in operators for words in kinds.values())]
    groups.append({word for words in lexicon.NEUTRAL.values() for word in words})
    counts = Counter(word for group in groups for word in group)
    assert [word for word in counts if counts[word] > 1] == []
    assert counts.keys() >= {word for words in CATEGORIES.values() for word in words}
    assert len(WORTH) == sum(len(words.split()) for kind in lexicon.WORTH.values() for words in kind.values())


# Labels


@pytest.mark.parametrize(
    ("brackets", "label"),
    [
        ("good", 3),
        ("film", 2),
        ("(not great)", 1),
        ("(never terrible)", 3),
        ("(very brilliant)", 4),
        ("(rather brilliant)", 3),
        ("(fairly good)", 3),
        ("((a bit) dull)", 1),
        ("((not bad) (at all))", 4),
        ("((not great) (at all))", 0),
        ("(not (very bad))", 3),
        ("((kind of) terrible)", 1),
        ("(good (and terrible))", 2),
        ("(bad (and terrible))", 0),
        ("(great (but slow))", 1),
        ("(its (terrible film))", 0),
        ("((hardly anyone) (loved it))", 1),
        ("((nobody (loved it)) (at all))", 0),
        ("(critics (doubted (that (it (was great)))))", 1),
        ("(it (was (utterly (true (that (it (bored us)))))))", 0),
        ("((it (was bad)) (although (we (loved it))))", 1),
        ("((it (was long)) (although (we (loved it))))", 4),
        ("((although (we (loved it))) (, (it (was bad))))", 1),
        ("((although (we (loved it))) (, (it (was long))))", 4),
        # the same words have two trees with different labels: -1 and 1 cancel out, or both are negated
        ("((not good) (and clever))", 2),
        ("(not (good (and clever)))", 1),
        ("((not good) (but slow))", 1),
        ("(not (good (but slow)))", 3),
        ("((nobody (said (that (it (was great))))) (but (it (bored us))))", 1),
        ("(nobody (said (that ((it (was great)) (but (it (bored us)))))))", 3),
        ("(((it bored) (although (we liked))) (but (it moved)))", 3),
        ("((it bored) (although ((we liked) (but (it moved)))))", 1),
    ],
)
def test_by_hand(brackets, label):
    assert labelled(tree(brackets)).tree.label[0] == str(label)


# Evidence


@pytest.mark.parametrize(
    ("brackets", "evidence"),
    [
        ("(the (great film))", ["the great film", "great film", "great"]),
        ("(very terrible)", ["very terrible", "terrible"]),  # it is very negative already
        ("(very bad)", ["very bad"]),
        ("((the film) (was (not bad)))", ["the film was not bad", "was not bad", "not bad"]),
        ("(good (and clever))", ["good and clever", "good", "and clever", "clever"]),
        ("(good (and great))", ["good and great", "and great", "great"]),
        ("(was (good (and bad)))", ["was good and bad", "good and bad"]),  # where they cancel out
        ("(good (but clever))", ["good but clever", "but clever", "clever"]),  # an overruled part does not count
        ("(good (but silent))", ["good but silent", "good"]),
        ("((although (it bored)) (, (it moved)))", ["although it bored , it moved", ", it moved", "it moved", "moved"]),
        ("((it bored) (although (we (tired us))))", ["it bored although we tired us", "it bored", "bored"]),
        ("(the film)", ["the film"]),  # no word says that it is neutral
    ],
)
def test_evidence_by_hand(brackets, evidence):
    made = labelled(tree(brackets))
    found = [" ".join(words) for words, marked in zip(phrases(made.tree), made.evidence, strict=True) if marked]
    assert found == evidence


def test_evidence_goes_down_from_the_root_and_has_its_label():
    for tree, _, evidence in SOME:
        assert evidence[0]
        for node, above in enumerate(tree.parent[1:], start=1):
            if evidence[node]:
                assert evidence[above]
                assert tree.label[node] == tree.label[0]
    shares = [np.mean(evidence) for *_, evidence in SOME]
    assert 0.1 < np.mean(shares) < 0.3


# Statistics


def test_the_words_in_their_order_do_not_tell_the_label(root, monkeypatch):
    """The most probable label of the words, given the grammar, is that of the tree as often as the grammar says."""
    monkeypatch.syspath_prepend(root / "results")
    likely = [import_module("tree_grammar").worths(tree.words) for tree in TREES[:60]]
    labels = [int(tree.label[0]) - 2 for tree in TREES[:60]]
    assert all(label in one for label, one in zip(labels, likely, strict=True))
    right = [max(one, key=one.get) == label for label, one in zip(labels, likely, strict=True)]
    sure = np.mean([max(one.values()) for one in likely])
    assert 0.8 < sure < 0.92
    assert abs(np.mean(right) - sure) < 0.1
    assert np.mean([len(one) > 1 for one in likely]) > 0.25


def test_classes_lengths_and_words():
    roots = Counter(tree.label[0] for tree in TREES)
    assert roots.keys() == set("01234")
    assert all(0.08 < count / len(SOME) < 0.33 for count in roots.values())
    nodes = Counter(label for tree in TREES for label in tree.label)
    assert 0.45 < nodes["2"] / nodes.total() < 0.65
    assert 13 < np.mean([len(tree.words) for tree in TREES]) < 16
    assert 120 < len({word for tree in TREES for word in tree.words}) < 200
