"""The generated pairs: scores worked by hand and read again from the sentences, and trees that tell who does what."""

import random
from collections import Counter

import numpy as np
import pytest

from zoo.data.trees.samples import lexicon, relatedness
from zoo.data.trees.samples.phrases import words_of
from zoo.data.trees.samples.relatedness import (
    EDITING,
    LENGTHS,
    NOUNS,
    QUALITIES,
    Clause,
    Meaning,
    SentenceWriter,
    Thing,
    drawn,
    facts,
    generate,
    pair,
    tree,
)

SOME = list(generate(600, seed=7))
BINARY = list(generate(600, seed=7, parse="constituency"))

KINDS = (NOUNS, QUALITIES, lexicon.PREPOSITIONS, lexicon.STATES, lexicon.ACTS, lexicon.DEALINGS)
MEANT = {word: meant for kind in KINDS for meant, words in kind.items() for word in words}
MEANT |= {done: MEANT[does] for does, done in lexicon.PARTICIPLES.items()}


OLD_DOG = Meaning("sleeping", Thing("dog", "old"), {"behind": Thing("house")}, Clause("dog", "chases", "cat"))
"""the old dog that chases the cat is sleeping behind the house: 2 + 2 + 1.5 + 1 + 1 + 0.5 = 8"""


def told(meaning, seed=0):
    return SentenceWriter(random.Random(seed), set()).written(meaning)


def covered(tree):
    """The words of each node."""
    found = [[] for _ in tree.parent]
    for node, word in enumerate(tree.word):
        while word >= 0 and node >= 0:
            found[node].append(word)
            node = tree.parent[node]
    return found


def unordered(tree):
    """What a network sees that sums over children: words, by what they mean, and what hangs on them in no order."""
    below, found = tree.children, {}
    size = [len(words) for words in covered(tree)]
    for node in sorted(range(len(below)), key=size.__getitem__):  # what hangs on a word before it
        word = tree.words[tree.word[node]]
        word = "a" if word in ("an", "the") else MEANT.get(word, word)
        found[node] = (word, tuple(sorted(found[child] for child in below[node])))
    return found[tree.root]


# What follows from what


def test_a_pair_is_a_function_of_the_seed_and_its_number():
    assert list(generate(9, seed=7)) == SOME[:9]
    assert words_of(pair(599, seed=7)[1][1]) == SOME[599].second.words[:-1]
    assert SOME[0] != SOME[1]
    assert SOME[0] != next(generate(1, seed=8))


def test_both_parses_are_of_the_same_sentences():
    for one, other in zip(SOME, BINARY, strict=True):
        assert one.first.words == other.first.words and one.second.words == other.second.words
        assert (one.score, one.place) == (other.score, other.place) == (one.score, "")


# Trees


def test_binary_trees_have_the_words_at_their_leaves():
    for made in (made for row in BINARY for made in row[:2]):
        assert made.binary
        assert made == made.from_top()
        assert [word for word in made.word if word >= 0] == list(range(len(made.words)))
        assert made.label == [None] * len(made.parent)


def test_each_word_but_the_full_stop_hangs_on_one():
    for made in (made for row in SOME for made in row[:2]):
        assert made.words[-1] == "." and made.words.count(".") == 1
        assert made.word == list(range(len(made.words) - 1))
        assert made.parent.count(-1) == 1
        for words in covered(made):  # which are a stretch of the sentence
            assert max(words) - min(words) == len(words) - 1
        assert made.label == [None] * len(made.parent)
        assert LENGTHS[0] <= len(made.words) <= LENGTHS[1]


def test_trees_by_hand():
    text = "the old dog that chases the cat is not sleeping behind the house"
    hangs_on = "dog dog sleeping chases dog cat chases sleeping sleeping . sleeping house behind"
    phrases = (told(OLD_DOG._replace(negated=True), seed) for seed in range(100_000))
    phrase = next(phrase for phrase in phrases if " ".join(words_of(phrase)) == text)  # of about 500
    by_word = tree(phrase, "dependency")
    assert " ".join(by_word.words) == f"{text} ."
    assert " ".join(by_word.words[at] for at in by_word.parent) == hangs_on  # the root, on -1, where the full stop is
    brackets = "((((the (old dog)) (that (chases (the cat)))) (is (not (sleeping (behind (the house)))))) .)"
    assert bracketed(tree(phrase, "constituency")) == brackets


def bracketed(tree):
    below, found = tree.children, {}
    for node in reversed(range(len(below))):  # they are numbered from the top
        parts = " ".join(found[child] for child in below[node])
        found[node] = f"({parts})" if parts else tree.words[tree.word[node]]
    return found[0]


def test_by_marks_who_acts_in_the_passive():
    meaning = Meaning("pushing", Thing("boy"), {"object": Thing("cart")}, Clause("boy", "helps", "dog", False))
    seen = set()
    for seed in range(40):
        made = tree(told(meaning, seed), "dependency")
        words = [MEANT.get(word, word) for word in made.words]
        hangs = {(word, words[head]) for word, head in zip(words, made.parent, strict=False) if head >= 0}
        assert {("cart", "pushing"), ("by", "helps"), ("dog", "by"), ("helps", "boy")} <= hangs
        passive = words.index("cart") < words.index("boy")
        assert (("boy", "by") in hangs and ("by", "pushing") in hangs) == passive
        assert (("boy", "pushing") in hangs) != passive
        seen.add(passive)
    assert seen == {True, False}


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
        (OLD_DOG._replace(roles={"near": Thing("house")}), 4.2),  # 6.5 of 8
        (OLD_DOG._replace(roles={}), 4.6),  # 2 * 6.5 / (8 + 6.5)
        (OLD_DOG.with_qualities([None, None]), 4.9),  # 2 * 7.5 / (8 + 7.5)
        (OLD_DOG.with_qualities(["black", None]), 4.8),  # 7.5 of 8
        (OLD_DOG.with_qualities([None, "old"]), 4.8),
        (OLD_DOG.with_qualities(["old", "white"]), 4.9),  # 2 * 8 / (8 + 8.5)
        (OLD_DOG._replace(negated=True), 3.4),  # 1 + 4 * 0.6
        (OLD_DOG._replace(verb="running", negated=True), 2.8),  # 1 + 4 * 0.75 * 0.6
        (Meaning("cutting", Thing("man"), {"object": Thing("box")}), 1.0),
        (Meaning("running", Thing("cat"), {"behind": Thing("dog")}, Clause("cat", "chases", "dog")), 1.0),
    ],
)
def test_scores_by_hand(other, score):
    assert relatedness.relatedness(OLD_DOG, other) == relatedness.relatedness(other, OLD_DOG) == score


def test_both_negated_is_as_good_as_neither():
    one, other = (meaning._replace(negated=True) for meaning in (OLD_DOG, OLD_DOG._replace(verb="running")))
    assert relatedness.relatedness(one, other) == 4.0


def test_a_clause_says_the_same_from_either_side():
    chasing = Meaning("sleeping", Thing("dog"), {}, Clause("dog", "chases", "cat"))
    chased = Meaning("sleeping", Thing("cat"), {}, Clause("cat", "chases", "dog", does=False))
    # that something sleeps, and that the dog chases the cat: 2 + 1 + 1 of 6
    assert relatedness.relatedness(chasing, chased) == 3.7


def read(words):
    """What a sentence says, from its words alone."""
    rest, clause = list(words), None

    def thing():
        nonlocal clause
        article = rest.pop(0)
        assert article in ("the", "an" if rest[0][0] in "aeiou" else "a")
        quality = MEANT[rest.pop(0)] if MEANT[rest[0]] in QUALITIES else None
        noun = MEANT[rest.pop(0)]
        if rest and rest[0] == "that":
            rest.pop(0)
            if does := rest[0] != "is":
                verb = rest.pop(0)
            else:
                _, verb, by = (rest.pop(0) for _ in range(3))
                assert by == "by"
            clause = Clause(noun, MEANT[verb], thing().noun, does)
        return Thing(noun, quality)

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
    return Meaning(MEANT[verb], agent, roles, clause, negated)


def test_sentences_say_what_is_meant():
    for number, row in enumerate(SOME):
        (first, _), (second, _) = pair(number, seed=7)
        assert read(row.first.words[:-1]) == first
        assert read(row.second.words[:-1]) == second
        assert row.score == relatedness.relatedness(first, second)
        assert len(set(first.nouns)) == len(first.nouns)


# What the trees tell


@pytest.mark.parametrize("edit", EDITING, ids=lambda edit: edit.__name__)
def test_an_edit_can_be_seen_in_the_tree_and_in_the_score(edit):
    draw, edited = random.Random(3), 0
    for number in range(150):
        meaning = drawn(draw)
        other = edit(draw, meaning)
        assert len(set(other.nouns)) == len(other.nouns)
        if other == meaning:
            continue
        edited += 1
        one, changed = (unordered(tree(told(one, number), "dependency")) for one in (meaning, other))
        assert one != changed
        assert facts(meaning) != facts(other) or meaning.negated != other.negated
        assert relatedness.relatedness(meaning, other) < 5
    assert edited > 30


def test_words_that_mean_the_same_change_nothing_in_the_tree():
    draw = random.Random(4)
    states = [meaning for meaning in (drawn(draw) for _ in range(60)) if meaning.verb in lexicon.STATES]
    told_as = [[tree(told(meaning, seed), "dependency") for seed in (1, 2)] for meaning in states]
    assert all(unordered(one) == unordered(other) for one, other in told_as)
    assert sum(one.words != other.words for one, other in told_as) > 25


def test_no_two_beings_hang_on_one_word():
    for made in (made for row in SOME for made in row[:2]):
        for below in made.children:
            assert sum(MEANT.get(made.words[child]) in lexicon.BEINGS for child in below) < 2


# What it is like


def test_no_word_means_two_things():
    words = [word for kind in KINDS for meant in kind.values() for word in meant] + [*lexicon.PARTICIPLES.values()]
    assert [word for word, count in Counter(words).items() if count > 1] == []
    verbs = [word for kind in (lexicon.ACTS, lexicon.DEALINGS) for meant in kind.values() for word in meant]
    assert sorted(verbs) == sorted(lexicon.PARTICIPLES)


def overlap(row, meaning):
    one, other = ({meaning.get(word, word) for word in tree.words} for tree in row[:2])
    return len(one & other) / len(one | other)


def test_scores_spread_and_words_do_not_tell_them():
    scores = np.array([row.score for row in SOME])
    assert np.array_equal(scores, scores.round(1))
    assert scores.min() == 1 and scores.max() == 5
    assert 3 < scores.mean() < 3.7 and scores.std() > 1.1
    assert max(Counter(scores.tolist()).values()) < 0.25 * len(scores)
    seen, known = (np.corrcoef([overlap(row, meant) for row in SOME], scores)[0, 1] for meant in ({}, MEANT))
    assert seen < 0.5
    assert seen + 0.2 < known < 0.85
    assert len({word for row in SOME for made in row[:2] for word in made.words}) > 200
