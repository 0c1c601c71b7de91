"""The generated pairs: scores by hand, meanings that are read again from the words, and trees that show the roles."""

import random
from collections import Counter

import numpy as np
import pytest

from tests.data.trees.grown import covered, joined
from zoo.data.trees.samples import lexicon
from zoo.data.trees.samples.phrases import words_of
from zoo.data.trees.samples.relatedness import (
    EDITING,
    LENGTHS,
    NOUNS,
    QUALITIES,
    Clause,
    Meaning,
    drawn,
    facts,
    generate,
    pair,
    relatedness,
    sentence,
    tree,
)

SOME = list(generate(600, seed=7))
KINDS = (NOUNS, QUALITIES, lexicon.PREPOSITIONS, lexicon.STATES, lexicon.ACTS, lexicon.DEALINGS)
MEANT = {word: meant for kind in KINDS for meant, words in kind.items() for word in words}
MEANT |= {done: MEANT[does] for does, done in lexicon.PARTICIPLES.items()}

OLD_DOG = Meaning("sleeping", {"agent": "dog", "behind": "house"}, ("old", None), Clause("dog", "chases", "cat"))
"""Its facts weigh 2 + 2 + 1.5 + 1 + 1 + 0.5 = 8; `test_trees_by_hand` has the sentence."""


def phrase(meaning, seed=0):
    return sentence(meaning, random.Random(seed))


def trees_of(rows):
    return [tree for row in rows for tree in row[:2]]


def unordered(tree):
    """The input of a network that sums over children: words, by their meaning, with their dependents in no order."""
    below, found = tree.children, {}
    size = [len(words) for words in covered(tree)]
    for node in sorted(range(len(below)), key=size.__getitem__):  # dependents before their heads
        word = tree.words[tree.word[node]]
        word = "a" if word in ("an", "the") else MEANT.get(word, word)
        found[node] = (word, tuple(sorted(found[child] for child in below[node])))
    return found[tree.root]


# Pairs and their trees


def test_each_word_but_the_full_stop_is_a_node_of_a_dependency_tree():
    for made in trees_of(SOME):
        assert made.words[-1] == "." and made.words.count(".") == 1
        assert made.word == list(range(len(made.words) - 1))
        assert all(max(words) - min(words) == len(words) - 1 for words in covered(made))  # no gaps
        assert made.label == [None] * len(made.parent)
        assert LENGTHS[0] <= len(made.words) <= LENGTHS[1]


def test_trees_by_hand():
    text = "the old dog that chases the cat is not sleeping behind the house"
    heads = "dog dog sleeping chases dog cat chases sleeping sleeping . sleeping house behind"
    phrases = (phrase(OLD_DOG._replace(negated=True), seed) for seed in range(100_000))
    found = next(found for found in phrases if " ".join(words_of(found)) == text)  # of about 500
    by_word = tree(found, "dependency")
    assert " ".join(by_word.words) == f"{text} ."
    assert " ".join(by_word.words[at] for at in by_word.parent) == heads  # -1, the head of the root, is the full stop
    brackets = "((((the (old dog)) (that (chases (the cat)))) (is (not (sleeping (behind (the house)))))) .)"
    assert joined(tree(found, "constituency")) == brackets


# Scores


@pytest.mark.parametrize(
    ("other", "score"),
    [
        (OLD_DOG, 5.0),
        (OLD_DOG._replace(verb="running"), 4.0),  # 6 of 8 are left
        (OLD_DOG.renamed({"dog": "man"}), 3.2),  # verb, place and that the cat is chased: 4.5 of 8
        (OLD_DOG.renamed({"cat": "boy"}), 4.5),  # all but who is chased
        (OLD_DOG.renamed({"dog": "cat", "cat": "dog"}), 2.8),  # verb and place: 3.5 of 8
        (OLD_DOG._replace(clause=Clause("dog", "chases", "cat", False)), 4.0),  # 6 of 8
        (OLD_DOG._replace(clause=Clause("dog", "helps", "cat")), 4.0),
        (OLD_DOG._replace(clause=None), 4.4),  # 2 * 6 / (8 + 6)
        (OLD_DOG._replace(roles={"agent": "dog", "near": "house"}), 4.2),  # 6.5 of 8
        (OLD_DOG._replace(roles={"agent": "dog"}, qualities=("old",)), 4.6),  # 2 * 6.5 / (8 + 6.5)
        (OLD_DOG._replace(qualities=(None, None)), 4.9),  # 2 * 7.5 / (8 + 7.5)
        (OLD_DOG._replace(qualities=("black", None)), 4.8),  # 7.5 of 8
        (OLD_DOG._replace(qualities=(None, "old")), 4.8),
        (OLD_DOG._replace(qualities=("old", "white")), 4.9),  # 2 * 8 / (8 + 8.5)
        (OLD_DOG._replace(negated=True), 3.4),  # 1 + 4 * 0.6
        (OLD_DOG._replace(verb="running", negated=True), 2.8),  # 1 + 4 * 0.75 * 0.6
        (Meaning("cutting", {"agent": "man", "object": "box"}, (None, None)), 1.0),
        (Meaning("running", {"agent": "cat", "behind": "dog"}, (None, None), Clause("cat", "chases", "dog")), 1.0),
    ],
)
def test_scores_by_hand(other, score):
    assert relatedness(OLD_DOG, other) == relatedness(other, OLD_DOG) == score


def read(words):
    """The meaning of a sentence, from its words alone."""
    rest, clause = list(words), None

    def thing():
        nonlocal clause
        article = rest.pop(0)
        assert article in ("the", "an" if rest[0][0] in "aeiou" else "a")
        quality = MEANT[rest.pop(0)] if MEANT[rest[0]] in QUALITIES else None
        noun = MEANT[rest.pop(0)]
        if rest and rest[0] == "that":
            rest.pop(0)
            does = rest[0] != "is"
            verb = rest.pop(0 if does else 1)
            assert does or [rest.pop(0), rest.pop(0)] == ["is", "by"]
            clause = Clause(noun, MEANT[verb], thing()[0], does)
        return noun, quality

    agent, roles = thing(), {}
    assert rest.pop(0) == "is"
    if negated := rest[0] == "not":
        rest.pop(0)
    verb = rest.pop(0)
    if MEANT[verb] in lexicon.ACTS:
        if verb in lexicon.PARTICIPLES:
            roles["object"] = thing()
        else:
            assert rest.pop(0) == "by"
            roles["object"], agent = agent, thing()
    while rest:
        role = rest.pop(0)
        roles[MEANT.get(role, role)] = thing()
    roles = {"agent": agent, **roles}
    nouns, qualities = zip(*roles.values(), strict=True)
    return Meaning(MEANT[verb], dict(zip(roles, nouns, strict=True)), qualities, clause, negated)


def test_sentences_have_their_meanings():
    for number, row in enumerate(SOME):
        (first, _), (second, _) = pair(number, seed=7)
        assert read(row.first.words[:-1]) == first
        assert read(row.second.words[:-1]) == second
        assert row.score == relatedness(first, second)
        assert len(set(first.nouns)) == len(first.nouns)
        assert not first.clause or {first.clause.of, first.clause.other} <= lexicon.BEINGS.keys()


# Networks can learn the scores from the trees, not from the words


@pytest.mark.parametrize("edit", EDITING, ids=lambda edit: edit.__name__)
def test_an_edit_changes_the_tree_and_the_score(edit):
    draw, edited = random.Random(3), 0
    for number in range(150):
        meaning = drawn(draw)
        other = edit(draw, meaning)
        assert len(set(other.nouns)) == len(other.nouns)
        if other == meaning:
            continue
        edited += 1
        one, changed = (unordered(tree(phrase(one, number), "dependency")) for one in (meaning, other))
        assert one != changed
        assert facts(meaning) != facts(other) or meaning.negated != other.negated
        assert relatedness(meaning, other) < 5
    assert edited > 30


def test_synonyms_change_nothing_in_the_tree():
    draw = random.Random(4)
    states = [meaning for meaning in (drawn(draw) for _ in range(60)) if meaning.verb in lexicon.STATES]
    expressed = [[tree(phrase(meaning, seed), "dependency") for seed in (1, 2)] for meaning in states]
    assert all(unordered(one) == unordered(other) for one, other in expressed)
    assert sum(one.words != other.words for one, other in expressed) > 25


def test_no_two_beings_depend_on_one_word():
    for made in trees_of(SOME):
        for below in made.children:
            assert sum(MEANT.get(made.words[child]) in lexicon.BEINGS for child in below) < 2


def test_no_word_means_two_things():
    words = [word for kind in KINDS for meant in kind.values() for word in meant] + [*lexicon.PARTICIPLES.values()]
    assert [word for word, count in Counter(words).items() if count > 1] == []
    verbs = [word for kind in (lexicon.ACTS, lexicon.DEALINGS) for meant in kind.values() for word in meant]
    assert sorted(verbs) == sorted(lexicon.PARTICIPLES)


def overlap(row, meaning):
    one, other = ({meaning.get(word, word) for word in tree.words} for tree in row[:2])
    return len(one & other) / len(one | other)


def test_scores_vary_and_common_words_do_not_predict_them():
    scores = np.array([row.score for row in SOME])
    assert np.array_equal(scores, scores.round(1))
    assert scores.min() == 1 and scores.max() == 5
    assert 3 < scores.mean() < 3.7 and scores.std() > 1.1
    assert max(Counter(scores.tolist()).values()) < 0.25 * len(scores)
    seen, known = (np.corrcoef([overlap(row, meant) for row in SOME], scores)[0, 1] for meant in ({}, MEANT))
    assert seen < 0.5
    assert seen + 0.2 < known < 0.85
    assert len({word for made in trees_of(SOME) for word in made.words}) > 200
