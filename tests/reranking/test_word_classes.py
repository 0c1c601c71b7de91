"""Word classes: the likelihood that they maximise, from its definition, and similar words that share a class."""

from collections import Counter
from itertools import pairwise, product
from math import log

import numpy as np

from zoo.reranking.word_classes import _Exchange, _neighbours, word_classes


def flat(sentences):
    return np.array([word for sentence in sentences for word in sentence]), np.array(list(map(len, sentences)))


def sentences_of_kinds(count=400, seed=0):
    """`determiner noun verb determiner noun`: words 0-2, 3-9 and 10-14, any of a kind as likely as another."""
    draw = np.random.default_rng(seed)
    kinds = [range(3), range(3, 10), range(10, 15)]
    return [[int(draw.choice(kinds[kind])) for kind in (0, 1, 2, 0, 1)] for _ in range(count)]


def likelihood(sentences, found):
    """F of some classes, from its definition."""
    follows = Counter((found[one], found[other]) for words in sentences for one, other in pairwise(words))
    occurs = Counter(found[word] for words in sentences for word in words)
    return sum(n * log(n) for n in follows.values()) - 2 * sum(n * log(n) for n in occurs.values())


def test_words_of_one_kind_share_a_class():
    text, lengths = flat(sentences_of_kinds())
    found = word_classes(text, lengths, 15, classes=6)
    kinds = [set(found[:3].tolist()), set(found[3:10].tolist()), set(found[10:].tolist())]
    assert sum(map(len, kinds)) == len(set.union(*kinds)) <= 5  # no class has words of two kinds


def test_no_single_move_is_better_in_the_end():
    sentences = sentences_of_kinds(60, seed=1)
    found = word_classes(*flat(sentences), 15, classes=5, rounds=50)
    best = likelihood(sentences, found)
    for word, other in product(range(15), range(1, 5)):
        moved = found.copy()
        moved[word] = other
        assert likelihood(sentences, moved) <= best + 1e-6


def test_counts_after_a_move_are_those_of_the_new_classes():
    draw = np.random.default_rng(2)
    sentences = [draw.integers(0, 8, draw.integers(0, 7)).tolist() for _ in range(80)]  # words follow themselves too
    text, lengths = flat(sentences)
    text = text.astype(np.int64)
    found = draw.integers(1, 4, 8)
    exchange = _Exchange(found, 4, *_neighbours(text, lengths, 8), np.bincount(text, minlength=8))
    before = likelihood(sentences, found)
    for word in range(8):
        exchange.move(word)
        after = likelihood(sentences, found)
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
