"""Word classes by the exchange algorithm: words of one class occur between similar words.

Kneser and Ney 1993; Martin, Liermann and Ney 1998, Algorithms for bigram and trigram word clustering. A word is moved
to the class with the highest likelihood of the text under p(w_i | w_(i-1)) = p(class_i | class_(i-1)) p(w_i | class_i),
until a round over all words changes little. Up to a constant the log-likelihood is

    F = sum over g, h of phi(N(g, h)) - 2 sum over g of phi(N(g)),   phi(x) = x log x

where N(g, h) counts how often class h follows class g, and N(g) counts the words of class g. mkcls, which the paper of
the attention-over-attention reader uses, maximises the same F, with simulated annealing in addition.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]

LEAST = 3  # Words that occur less often have too little context; together they are class 0


class Bigrams(NamedTuple):
    """Distinct pairs of adjacent words in a text, grouped by their first word."""

    begins: Ints  # (words + 1,) offset of the pairs of each first word
    other: Ints  # The second word of each pair
    times: Ints  # Number of occurrences of each pair


def word_classes(text: Ints, lengths: Ints, words: int, *, classes: int, rounds: int = 5) -> NDArray[np.int32]:
    """Classes (words,) from 0 to at most `classes` - 1, learned from sentences that are concatenated in `text`.

    Class 0 holds rare words and words that never occur. The `classes` - 2 most frequent others start in separate
    classes, the rest in one. There are at most `rounds` rounds, until no more than one word in a thousand moves.
    """
    occurs = np.bincount(text, minlength=words)
    by_frequency = np.argsort(-occurs, kind="stable")
    moving = by_frequency[: int((occurs >= LEAST).sum())]
    count = max(min(classes, len(moving) + 1), 1)
    found = np.zeros(words, np.int64)
    if count > 1:
        found[moving] = np.minimum(np.arange(1, len(moving) + 1), count - 1)
        exchange = _Exchange(found, count, *_neighbours(text, lengths, words), occurs)
        for _ in range(rounds):
            moved = sum(map(exchange.move, moving.tolist()))
            if moved * 1000 <= len(moving):
                break
    return found.astype(np.int32)


class _Exchange:
    """The counts of the classes, and their change when a word moves to another class."""

    def __init__(self, found: Ints, classes: int, after: Bigrams, before: Bigrams, occurs: Ints) -> None:
        self.found, self.after, self.before, self.occurs = found, after, before, occurs
        self.size = np.bincount(found, occurs, minlength=classes).astype(np.float64)  # N(g)
        first = np.repeat(found, np.diff(after.begins))
        pairs = first * classes + found[after.other]
        follows = np.bincount(pairs, after.times, minlength=classes**2).astype(np.float64)
        self.follows = follows.reshape(classes, classes)  # N(g, h)

    def move(self, word: int) -> bool:
        """Moves a word to its best class, but never to class 0; returns whether the class changed."""
        old, total = int(self.found[word]), self.occurs[word]
        after, itself = self._classes_beside(self.after, word)
        before, _ = self._classes_beside(self.before, word)
        self._add(old, after, before, itself, -1)
        self.size[old] -= total
        gains = self._gains(after, before, itself) - 2 * (_phi(self.size + total) - _phi(self.size))
        gains[0] = -np.inf
        best = int(gains.argmax())
        new = best if gains[best] > gains[old] + 1e-9 * abs(gains[old]) else old
        self._add(new, after, before, itself, 1)
        self.size[new] += total
        self.found[word] = new
        return new != old

    def _classes_beside(self, beside: Bigrams, word: int) -> tuple[Reals, float]:
        """How often words of each class are adjacent to a word, without the word itself, and how often the word is."""
        here = slice(beside.begins[word], beside.begins[word + 1])
        other, count = beside.other[here], beside.times[here].astype(np.float64)
        same = other == word
        found = np.bincount(self.found[other], count * ~same, minlength=len(self.size)).astype(np.float64)
        return found, float(count[same].sum())

    def _add(self, to: int, after: Reals, before: Reals, itself: float, sign: int) -> None:
        self.follows[to] += sign * after
        self.follows[:, to] += sign * before
        self.follows[to, to] += sign * itself

    def _gains(self, after: Reals, before: Reals, itself: float) -> Reals:
        """Gain of the sum of phi(N(g, h)) if the word moves to each class."""
        follows, own = self.follows, np.arange(len(self.size))
        gains = np.zeros(len(own))
        for counts, table in ((after, follows), (before, follows.T)):
            beside = counts.nonzero()[0]
            now = table[:, beside]
            change = _phi(now + counts[beside]) - _phi(now)
            gains += change.sum(1)
            gains[beside] -= change[beside, np.arange(len(beside))]  # a class next to itself is counted below
        diagonal = follows[own, own]
        return gains + _phi(diagonal + after + before + itself) - _phi(diagonal)


def _pairs(text: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """The words that precede another word of their sentence, and the words that follow them."""
    last = np.cumsum(lengths[lengths > 0]) - 1
    inside = np.ones(len(text), bool)
    inside[last] = False
    first = np.flatnonzero(inside)
    return text[first], text[first + 1]


def _neighbours(text: Ints, lengths: Ints, words: int) -> tuple[Bigrams, Bigrams]:
    """The words after and before each word."""
    first, second = _pairs(text, lengths)
    return _bigrams(first, second, words), _bigrams(second, first, words)


def _bigrams(first: Ints, second: Ints, words: int) -> Bigrams:
    pairs, count = np.unique(first * words + second, return_counts=True)
    begins = np.searchsorted(pairs, np.arange(words + 1) * words)
    return Bigrams(begins, pairs % words, count)


def _phi(counts: Reals) -> Reals:
    """x log x."""
    return np.asarray(counts * np.log(np.maximum(counts, 1)))
