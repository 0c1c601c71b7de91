"""Word classes: the likelihood that they maximise, counted directly, and similar words that share a class."""

from itertools import product
from math import log

import numpy as np
import pytest

from zoo.reranking.word_classes import _Exchange, _neighbours, log_likelihood, word_classes


def flat(sentences):
    return np.array([word for sentence in sentences for word in sentence]), np.array(list(map(len, sentences)))


def sentences_of_kinds(count=400, seed=0):
    """`determiner noun verb determiner noun`: words 0-2, 3-9 and 10-14, any of a kind as likely as another."""
    draw = np.random.default_rng(seed)
    kinds = [range(3), range(3, 10), range(10, 15)]
    return [[int(draw.choice(kinds[kind])) for kind in (0, 1, 2, 0, 1)] for _ in range(count)]


def test_likelihood_by_hand():
    """`a b a` with a class each: N(a, b) = N(b, a) = 1, N(a) = 2, N(b) = 1: 0 - 2 * 2 log 2. In one class N = 2 pairs
    and 3 words: 2 log 2 - 6 log 3."""
    text, lengths = flat([[0, 1, 0]])
    assert log_likelihood(text, lengths, np.array([0, 1])) == pytest.approx(-4 * log(2))
    assert log_likelihood(text, lengths, np.array([0, 0])) == pytest.approx(2 * log(2) - 6 * log(3))


def test_words_of_one_kind_share_a_class():
    text, lengths = flat(sentences_of_kinds())
    found = word_classes(text, lengths, 15, classes=6)
    kinds = [set(found[:3].tolist()), set(found[3:10].tolist()), set(found[10:].tolist())]
    assert sum(map(len, kinds)) == len(set.union(*kinds)) <= 5  # no class has words of two kinds


def test_no_single_move_is_better_in_the_end():
    text, lengths = flat(sentences_of_kinds(60, seed=1))
    found = word_classes(text, lengths, 15, classes=5, rounds=50)
    best = log_likelihood(text, lengths, found)
    for word, other in product(range(15), range(1, 5)):
        moved = found.copy()
        moved[word] = other
        assert log_likelihood(text, lengths, moved) <= best + 1e-6


def test_counts_after_a_move_are_those_of_the_new_classes():
    draw = np.random.default_rng(2)
    sentences = [draw.integers(0, 8, draw.integers(0, 7)).tolist() for _ in range(80)]  # words follow themselves too
    text, lengths = flat(sentences)
    text = text.astype(np.int64)
    found = draw.integers(1, 4, 8)
    exchange = _Exchange(found, 4, *_neighbours(text, lengths, 8), np.bincount(text, minlength=8))
    before = log_likelihood(text, lengths, found)
    for word in range(8):
        exchange.move(word)
        after = log_likelihood(text, lengths, found)
        assert after >= before - 1e-6
        before = after
        anew = _Exchange(found.copy(), 4, exchange.after, exchange.before, exchange.occurs)
        np.testing.assert_array_equal(exchange.follows, anew.follows)
        np.testing.assert_array_equal(exchange.size, anew.size)


def test_rare_words_are_a_class_of_their_own():
    text, lengths = flat([*sentences_of_kinds(), [0, 15], [1, 16]])
    found = word_classes(text, lengths, 20, classes=4)
    assert found[15:].tolist() == [0] * 5 and (found[:15] > 0).all()
    assert word_classes(*flat([[0, 1], [1, 2]]), 3, classes=5).tolist() == [0, 0, 0]
