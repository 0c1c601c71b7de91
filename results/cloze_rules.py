"""Baselines for cloze questions: rules that count words.

Hermann et al. 2015, https://arxiv.org/abs/1506.03340; Hill et al. 2016, https://arxiv.org/abs/1511.02301.

Each returns the number of a candidate; of equally good ones the first in the list. Words are compared without their
case, and a token without a letter or a digit does not count as a word.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from math import log

from zoo.data.cloze.batch import BLANK, Shown
from zoo.data.cloze.encoding import most_of, occurrences

FARTHEST = 8
"""Upper limit of the distances that are summed: the m of Hermann et al."""


def most_frequent(text: Shown) -> int:
    """The candidate that occurs most often in the document."""
    return most_of(occurrences(text.document, text.candidates), len(text.candidates))


def maximum_overlap(text: Shown) -> int:
    """The candidate near which the document has the most words of the query.

    For each occurrence of a candidate, a sum runs over the distinct query words that occur no farther from it than the
    query is long. A word with n occurrences in the document adds log(1 + 1 / n), so that rare words count more (the
    sliding window of Richardson, Burges and Renshaw 2013). The score of a candidate is its largest sum.
    """
    words, asked = _folded(text)
    weights = {word: log(1 + 1 / count) for word in asked.values() if (count := words.count(word))}
    reach = len(text.query)

    def overlap(place: int) -> float:
        near = {*words[max(0, place - reach) : place], *words[place + 1 : place + 1 + reach]}
        return sum(weight for word, weight in weights.items() if word in near)

    return _best(text, overlap)


def word_distance(text: Shown) -> int:
    """The candidate at which the query aligns best with the document.

    The blank is aligned with an occurrence of a candidate. Each query word then has a distance to the nearest equal
    word of the document, at most 8. The least sum wins (Hermann et al. 2015, without their alignment by coreference).
    """
    words, asked = _folded(text)
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    blank = text.query.index(BLANK)

    def nearness(place: int) -> float:
        return -sum(_distance(places.get(word, []), place + at - blank) for at, word in asked.items())

    return _best(text, nearness)


BASELINES: Mapping[str, Callable[[Shown], int]] = {
    "most frequent candidate": most_frequent,
    "maximum overlap": maximum_overlap,
    "word distance": word_distance,
}


def _folded(text: Shown) -> tuple[list[str], dict[int, str]]:
    """The words of the document, and the query's by position, without the blank and punctuation."""
    query = {at: word.lower() for at, word in enumerate(text.query) if word != BLANK and any(map(str.isalnum, word))}
    return [word.lower() for word in text.document], query


def _best(text: Shown, score: Callable[[int], float]) -> int:
    """The candidate at the position with the highest score."""
    best = [-float("inf")] * len(text.candidates)
    for place, number in enumerate(occurrences(text.document, text.candidates)):
        if number >= 0:
            best[number] = max(best[number], score(place))
    return best.index(max(best))


def _distance(places: Sequence[int], wanted: int) -> int:
    """Distance from `wanted` to the nearest of sorted positions."""
    at = bisect_left(places, wanted)
    return min([FARTHEST, *(abs(place - wanted) for place in places[max(0, at - 1) : at + 1])])
