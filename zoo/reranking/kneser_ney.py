"""Language models of n-grams with interpolated modified Kneser-Ney smoothing.

Chen and Goodman 1998, An empirical study of smoothing techniques for language modeling, equations (26) and (27).

    p_k(w | h) = (a(h w) - D(a)) / a(h .) + gamma(h) p_(k-1)(w | h'),   h' = h without its first word
    gamma(h) = the remainder after the discounts, so that p_k sums to 1;   p_0 is equal for all words

For the highest order, a(g) is the number of occurrences of the n-gram g. For lower orders it is the number of different
words that precede g; if g begins a sentence, nothing precedes it, and a(g) is its number of occurrences.

Notation: V words, T symbols of the training text with begin and end of each sentence, n order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Level(NamedTuple):
    """The kept n-grams of one order, 2 or higher, and the probability that is left for the order below.

    The number of an n-gram is its index among the keys; the number of a unigram is the symbol itself.
    """

    keys: Ints  # (number of the n-gram without its last word) * (V + 2) + its last word, in ascending order
    weight: NDArray[np.float32]  # (a - D) / a(h .) of each n-gram: what does not come from lower orders
    gamma: NDArray[np.float32]  # gamma(h) of each kept n-gram h of the order below: the share of the lower order


class KneserNey(NamedTuple):
    """p(word | the n - 1 words before it in its sentence). Words are 0 ... V - 1."""

    words: int
    base: NDArray[np.float32]  # (V + 2,) p_1 of each symbol
    levels: list[Level]

    @property
    def order(self) -> int:
        return len(self.levels) + 1

    @classmethod
    def train(cls, text: Ints, lengths: Ints, words: int, *, order: int, rare: int = 1) -> KneserNey:
        """Trains on sentences, which are concatenated in `text` and separated by their `lengths`.

        n-grams of order 3 and higher that occur less than `rare` times are dropped, and their probability goes to the
        lower order. With 2, a model of millions of words is a few times smaller.
        """
        symbols, place = _marked(text, lengths, words)
        grams = _Grams(np.arange(words + 2), np.bincount(symbols, minlength=words + 2), symbols)
        number, base, levels = np.arange(words + 2), np.zeros(0, np.float32), []
        for k in range(1, order + 1):
            longer = _longer(grams, symbols, place, k + 1, words + 2) if k < order else None
            count = grams.occurring if longer is None else _different_before(grams, longer, symbols == words)
            if k == 1:
                base = _unigrams(count, words)
            else:
                level, number = _level(grams, count, number, words + 2, rare if k > 2 else 1)
                levels.append(level)
            grams = longer or grams
        return cls(words, base, levels)

    def log_probs(self, sentences: Ints) -> NDArray[np.float64]:
        """log p (M, L + 1) of every word, and of the end, of sentences of equal length (M, L)."""
        rows, size = len(sentences), self.words + 2
        begin, end = np.full((rows, 1), self.words), np.full((rows, 1), self.words + 1)
        symbols = np.concatenate([begin, sentences, end], 1).astype(np.int64)  # (M, L + 2)
        probability = self.base[symbols].astype(np.float64)
        context = symbols  # the (k - 1)-gram that begins at each symbol, -1 if it is unknown
        for k, level in enumerate(self.levels, 2):
            last = symbols[:, k - 1 :]
            context = context[:, : last.shape[1]]
            known = context >= 0
            number, found = _find(level.keys, context * size + last, known)
            weight = np.where(found, level.weight[number], 0.0) if len(level.keys) else 0.0
            gamma = np.where(known, level.gamma[context], 1.0) if len(level.gamma) else 1.0
            probability[:, k - 1 :] = weight + gamma * probability[:, k - 1 :]
            context = np.where(found, number, -1)
        return np.log(probability[:, 1:])

    def state(self) -> dict[str, NDArray[Any]]:
        """The model as arrays by name."""
        levels = enumerate(self.levels, 2)
        parts = {f"{name}{k}": value for k, level in levels for name, value in level._asdict().items()}
        return {"words": np.array(self.words), "base": self.base, **parts}

    @classmethod
    def from_state(cls, state: Mapping[str, NDArray[Any]]) -> KneserNey:
        """Restores the model from `state`."""
        orders = sorted(int(name.removeprefix("keys")) for name in state if name.startswith("keys"))
        levels = [Level(*(state[f"{name}{k}"] for name in Level._fields)) for k in orders]
        return cls(int(state["words"]), state["base"], levels)


class _Grams(NamedTuple):
    """The distinct n-grams of one order in a text."""

    keys: Ints  # Keys as in `Level`, but with the numbers of all n-grams
    occurring: Ints  # Number of occurrences of each
    at: Ints  # (T,) the number of the n-gram that begins at each symbol; -1 if none does


def _marked(text: Ints, lengths: Ints, words: int) -> tuple[Ints, Ints]:
    """Symbols (T,), each sentence between begin V and end V + 1, and the position of each symbol in the text.

    Positions have a gap between sentences, so that an n-gram never crosses a border.
    """
    total = len(text) + 2 * len(lengths)
    symbols, inside = np.empty(total, np.int64), np.ones(total, bool)
    ends = np.cumsum(lengths + 2)
    symbols[ends - 1], symbols[ends - lengths - 2] = words + 1, words
    inside[ends - 1] = inside[ends - lengths - 2] = False
    symbols[inside] = text
    leap = np.repeat(np.arange(len(lengths)), lengths + 2)
    return symbols, np.arange(total) + leap * total


def _longer(grams: _Grams, symbols: Ints, place: Ints, k: int, size: int) -> _Grams:
    """The k-grams, built from the (k - 1)-grams."""
    ending = symbols[k - 1 :]
    whole = place[k - 1 :] == place[: len(ending)] + k - 1  # in one sentence
    keys, number, occurring = np.unique(
        (grams.at[: len(ending)] * size + ending)[whole], return_inverse=True, return_counts=True
    )
    at = np.full(len(symbols), -1)
    at[: len(ending)][whole] = number
    return _Grams(keys, occurring, at)


def _different_before(grams: _Grams, longer: _Grams, begins: NDArray[np.bool_]) -> Ints:
    """a(g) of n-grams of a lower order: the number of distinct longer n-grams that end in g.

    For n-grams that begin a sentence it is the number of occurrences.
    """
    different, first = np.unique(longer.at, return_index=True)
    before = np.bincount(grams.at[first[different >= 0] + 1], minlength=len(grams.keys))
    starting = np.unique(grams.at[begins & (grams.at >= 0)])
    before[starting] = grams.occurring[starting]
    return before


def _unigrams(count: Ints, words: int) -> NDArray[np.float32]:
    """p_1 (V + 2,)."""
    count[words] = 0  # the begin of a sentence is never predicted
    share = (count - _discounts(count)[np.minimum(count, 3)]) / max(int(count.sum()), 1)
    base = share + (1 - share.sum()) / (words + 1)
    base[words] = 0.0
    return base.astype(np.float32)


def _level(grams: _Grams, count: Ints, number: Ints, size: int, rare: int) -> tuple[Level, Ints]:
    """The level of n-grams, and their numbers in it (-1 for dropped ones).

    `number` holds the numbers of the n-grams that are one word shorter.
    """
    context, word = np.divmod(grams.keys, size)
    total = np.bincount(context, count, minlength=len(number))
    weight = (count - _discounts(count)[np.minimum(count, 3)]) / total[context]
    kept = grams.occurring >= rare  # the n-gram without its last word occurs as often, so it is kept too
    gamma = 1 - np.bincount(context[kept], weight[kept], minlength=len(number))
    keys = number[context[kept]] * size + word[kept]
    level = Level(keys, weight[kept].astype(np.float32), gamma[number >= 0].astype(np.float32))
    return level, np.where(kept, np.cumsum(kept) - 1, -1)


def _discounts(counts: Ints) -> NDArray[np.float64]:
    """D(0) = 0, D(1), D(2) and D(3 and more) by Chen and Goodman's equation (26).

    They follow from the numbers n1 to n4 of n-grams with counts 1 to 4. If some of these are 0 or do not fall, as in a
    small text, there is one discount n1 / (n1 + 2 n2) for all (Ney, Essen and Kneser 1994), or one half.
    """
    n1, n2, n3, n4 = (float(n) for n in np.bincount(np.minimum(counts, 5), minlength=6)[1:5])
    if not n1 or not n2:
        return np.array([0.0, 0.5, 0.5, 0.5])
    y = n1 / (n1 + 2 * n2)
    if not n3 or not n4:
        return np.array([0.0, y, y, y])
    found = np.array([0.0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3])
    return found if (found[1:] > 0).all() else np.array([0.0, y, y, y])


def _find(keys: Ints, wanted: Ints, real: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.bool_]]:
    """Index of each wanted key among the ascending keys, and whether it is found; never found if it is not `real`."""
    if not len(keys):
        return np.zeros_like(wanted), np.zeros(wanted.shape, bool)
    number = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return number, real & (keys[number] == wanted)
