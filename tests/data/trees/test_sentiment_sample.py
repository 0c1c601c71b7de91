"""The generated treebank: its labels are what the rules say, worked out again from the words, and words do not do."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from zoo.data.trees.row import Labelled
from zoo.data.trees.samples import lexicon
from zoo.data.trees.samples.sentiment import CATEGORIES, LENGTHS, RULES, generate, labelled, sentence
from zoo.data.trees.tree import Tree

SOME = list(generate(400, seed=7))


def tree(brackets):
    """Of words in brackets: `((not good) (and clever))`."""
    words, parent, word, waiting = [], [], [], [-1]
    for token in brackets.replace("(", " ( ").replace(")", " ) ").split():
        if token == ")":
            waiting.pop()
            continue
        parent.append(waiting[-1])
        word.append(-1 if token == "(" else len(words))
        if token == "(":
            waiting.append(len(parent) - 1)
        else:
            words.append(token)
    return Tree(words, parent, word, [None] * len(parent))


def phrases(tree):
    """The words of each node, whose leaves are in order."""
    found = [[] for _ in tree.parent]
    for node, word in enumerate(tree.word):
        while word >= 0 and node >= 0:
            found[node].append(tree.words[word])
            node = tree.parent[node]
    return found


# What follows from what


def test_a_tree_is_a_function_of_the_seed_and_its_number():
    assert list(generate(9, seed=7)) == SOME[:9]
    assert sentence(399, seed=7) == SOME[399]
    assert SOME[0] != SOME[1]
    assert SOME[0] != sentence(0, seed=8)


def test_trees_are_binary_and_numbered_from_the_top():
    for tree, place, evidence, _ in SOME:
        assert place == ""
        assert tree.binary
        assert tree == tree.from_top()
        assert [word for word in tree.word if word >= 0] == list(range(len(tree.words)))
        assert len(tree.label) == len(evidence) == len(tree.parent) == 2 * len(tree.words) - 1
        assert LENGTHS[0] <= len(tree.words) <= LENGTHS[1]


def test_nothing_is_said_twice():
    content = {word for category in (*lexicon.WORTH, "thing") for word in CATEGORIES[category]}
    for tree, *_ in SOME:
        assert max(Counter(word for word in tree.words if word in content).values()) == 1


def test_a_word_has_one_meaning():
    worth = [
        (word, value) for kind in lexicon.WORTH.values() for value, words in kind.items() for word in words.split()
    ]
    assert len(dict(worth)) == len(worth)
    acting = [
        words for kinds in (lexicon.STRENGTHENING, lexicon.WEAKENING, lexicon.TURNING) for words in kinds.values()
    ]
    groups = [{word for word, _ in worth}, {"but", "although"}, *(set(words.split()) for words in acting)]
    groups.append({word for words in lexicon.NEUTRAL.values() for word in words})
    said = Counter(word for group in groups for word in group)
    assert [word for word in said if said[word] > 1] == []
    assert said.keys() >= {word for words in CATEGORIES.values() for word in words}


# Labels, worked out again

ACTS = {
    "very extremely really truly utterly deeply at_all": {2: 2, 1: 2, 0: 0, -1: -2, -2: -2},
    "fairly rather slightly somewhat mildly a_bit kind_of": {2: 1, 1: 1, 0: 0, -1: -1, -2: -1},
    "not never hardly nobody doubted denied no_one hardly_anyone": {2: -1, 1: -1, 0: 0, -1: 1, -2: 1},
}
ACTS = {word: made for words, made in ACTS.items() for word in words.split()}
WORTH = {word: value for kind in lexicon.WORTH.values() for value, words in kind.items() for word in words.split()}


def leaf(word):
    """What a word is worth, and the word itself, which may act on others."""
    return WORTH.get(word, 0), word


def joined(left, right, words):
    """The same of a phrase with these two parts and these words."""
    (a, first), (b, second) = left, right
    if "_".join(words) in ACTS:
        return 0, "_".join(words)
    if first in ("but", "although"):
        return b, f"{first} ..."
    if first in ACTS:
        return ACTS[first][b], ""
    if second in ACTS:
        return ACTS[second][a], ""
    if second == "but ..." or first == "although ...":
        return b or a, ""
    if second == "although ...":
        return a or b, ""
    if a * b < 0:
        return 0, ""
    return max(a, b) if a + b > 0 else min(a, b), ""


def test_every_label_follows_from_the_words_below_it():
    for tree, *_ in SOME:
        below, words, worth = tree.children, phrases(tree), {}
        for node in reversed(range(len(below))):  # they are numbered from the top
            parts = [worth[child] for child in below[node]]
            worth[node] = joined(*parts, words[node]) if parts else leaf(*words[node])
        assert tree.label == [str(worth[node][0] + 2) for node in range(len(below))]


@pytest.mark.parametrize(
    ("brackets", "label"),
    [
        ("good", 3),
        ("film", 2),
        ("(very good)", 4),
        ("(slightly great)", 3),
        ("(not great)", 1),
        ("(not bad)", 3),
        ("((not bad) (at all))", 4),
        ("((not great) (at all))", 0),
        ("(not (very bad))", 3),
        ("((kind of) terrible)", 1),
        ("(good (and terrible))", 2),
        ("(bad (and terrible))", 0),
        ("(good (but silent))", 3),
        ("(great (but slow))", 1),
        ("(its (terrible film))", 0),
        ("(nobody (loved it))", 1),
        ("((hardly anyone) (loved it))", 1),
        ("((nobody (loved it)) (at all))", 0),
        ("(critics (doubted (that (it (was great)))))", 1),
        ("(it (was (utterly (true (that (it (bored us)))))))", 0),
        ("((it (was bad)) (although (we (loved it))))", 1),
        ("((although (we (loved it))) (, (it (was bad))))", 1),
        ("((although (we (loved it))) (, (it (was long))))", 4),
        ("((it (was long)) (although (we (loved it))))", 4),
    ],
)
def test_by_hand(brackets, label):
    assert labelled(tree(brackets)).tree.label[0] == str(label)


@pytest.mark.parametrize(
    ("one", "other", "labels"),
    [
        # -1 and 1 cancel; both are good, and that is turned
        ("((not good) (and clever))", "(not (good (and clever)))", "21"),
        ("((not good) (but slow))", "(not (good (but slow)))", "13"),
        # only the one that thinks nothing of S2 turns it
        (
            "((nobody (said (that (it (was great))))) (but (it (bored us))))",
            "(nobody (said (that ((it (was great)) (but (it (bored us)))))))",
            "13",
        ),
        ("((never (bored us)) (and (was bad)))", "(never ((bored us) (and (was bad))))", "23"),
        ("((slightly clever) (and great))", "(slightly (clever (and great)))", "43"),
        # the main clause is the last one, or the first
        (
            "(((it bored) (although (we liked))) (but (it moved)))",
            "((it bored) (although ((we liked) (but (it moved)))))",
            "31",
        ),
    ],
)
def test_the_same_words_have_two_meanings(one, other, labels):
    trees = [tree(brackets) for brackets in (one, other)]
    assert trees[0].words == trees[1].words
    assert [labelled(one).tree.label[0] for one in trees] == list(labels)


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
        ("(good (but clever))", ["good but clever", "but clever", "clever"]),  # what is overruled does not count
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
    for tree, _, evidence, _ in SOME:
        assert evidence[0]
        for node, above in enumerate(tree.parent[1:], start=1):
            if evidence[node]:
                assert evidence[above]
                assert tree.label[node] == tree.label[0]
    shares = [np.mean(evidence) for _, _, evidence, _ in SOME]
    assert 0.1 < np.mean(shares) < 0.3


def test_any_tree_is_labelled_however_its_nodes_are_numbered():
    for made in SOME[:20]:
        below, order, waiting = made.tree.children, [], [0]
        while waiting:  # parents before children, the last child first: read backwards, the root comes last
            order.append(waiting.pop())
            waiting += below[order[-1]]
        other = made.tree.numbered(order[::-1])
        blank = other._replace(label=[None] * len(order))
        assert labelled(blank) == Labelled(other, "", [made.evidence[node] for node in order[::-1]])


# What it is like


def test_classes_lengths_and_words():
    roots = Counter(tree.label[0] for tree, *_ in SOME)
    assert roots.keys() == set("01234")
    assert all(0.08 < count / len(SOME) < 0.33 for count in roots.values())
    nodes = Counter(label for tree, *_ in SOME for label in tree.label)
    assert 0.45 < nodes["2"] / nodes.total() < 0.65
    assert 13 < np.mean([len(tree.words) for tree, *_ in SOME]) < 16
    assert 120 < len({word for tree, *_ in SOME for word in tree.words}) < 200


def by_parts():
    """The rules of two parts by the second of them, and those of one part, those of lower symbols first."""
    pairs, single, order = defaultdict(list), defaultdict(list), []
    for symbol, weights in RULES.items():
        for alternative, weight in weights.items():
            *left, right = alternative.split()
            share = weight / sum(weights.values())
            if left:
                pairs[right].append((*left, symbol, share))
            else:
                single[symbol].append((right, share))

    def visit(symbol):
        for lower, _ in single.get(symbol, ()):
            visit(lower)
        if symbol in single and symbol not in order:
            order.append(symbol)

    for symbol in RULES:
        visit(symbol)
    return pairs, [(symbol, single[symbol]) for symbol in order]


def read(words):
    """How likely each worth is of all trees that the grammar has for a sentence: the inside probabilities of its
    phrases, for each symbol and what they mean."""
    pairs, single = by_parts()
    chart = defaultdict(dict)
    for size in range(1, len(words) + 1):
        for first in range(len(words) - size + 1):
            last, cell = first + size, defaultdict(lambda: defaultdict(float))
            if size == 1:
                cell[words[first]][leaf(words[first])] = 1 - any(words[first] == kind for kind in CATEGORIES)
                for kind in (kind for kind in CATEGORIES if words[first] in CATEGORIES[kind]):
                    cell[kind][leaf(words[first])] = 1 / len(CATEGORIES[kind])
            for middle in range(first + 1, last):
                lefts, rights = chart[first, middle], chart[middle, last]
                for right in rights:
                    for left, symbol, share in pairs[right]:
                        for a, of_left in lefts.get(left, {}).items():
                            for b, of_right in rights[right].items():
                                cell[symbol][joined(a, b, words[first:last])] += share * of_left * of_right
            for symbol, lower in single:
                for part, share in lower:
                    for meant, likely in cell[part].items() if part in cell else ():
                        cell[symbol][meant] += share * likely
            chart[first, last] = {symbol: meanings for symbol, meanings in cell.items() if meanings}
    found = {worth: likely for (worth, _), likely in chart[0, len(words)]["TEXT"].items()}
    return {worth: likely / sum(found.values()) for worth, likely in found.items()}


def test_the_words_in_their_order_do_not_tell_the_label():
    """Who knows the grammar and sees the words takes the likeliest of the labels that its trees give them. As often as
    the grammar says, and no more, that is the label of the tree."""
    sure, hits, labels = [], [], []
    for tree, *_ in SOME[:60]:
        likely, label = read(tree.words), int(tree.label[0]) - 2
        assert label in likely
        best = max(likely, key=likely.get)
        sure.append(likely[best])
        hits.append(best == label)
        labels.append(len(likely))
    assert 0.8 < np.mean(sure) < 0.92
    assert abs(np.mean(hits) - np.mean(sure)) < 0.1
    assert np.mean(np.array(labels) > 1) > 0.25
