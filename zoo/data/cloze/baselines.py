"""What a network for cloze questions has to beat: rules that count words, by Hermann et al. 2015,
https://arxiv.org/abs/1506.03340, and Hill et al. 2016, https://arxiv.org/abs/1511.02301.

Each gives the number of a candidate; of several that are equally good the one that is listed first. Words are compared
without their case, and what has neither letter nor digit is no word.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from math import log

import numpy as np

from zoo.data.cloze.encoding import occurrences
from zoo.data.cloze.question import BLANK, Shown

FARTHEST = 8
"""Of the distances that are summed: the m of Hermann et al."""


def most_frequent(text: Shown) -> int:
    """The candidate that stands in the document most often."""
    return most_of(occurrences(text.document, text.candidates), len(text.candidates))


def most_of(occurrence: Sequence[int], candidates: int) -> int:
    """The number that stands in `occurrence` most often, of `candidates` that may."""
    found = np.asarray(occurrence, np.int64)
    return int(np.bincount(found[found >= 0], minlength=candidates).argmax())


def maximum_overlap(text: Shown) -> int:
    """The candidate beside which the document has most words of the query.

    For each place where a candidate stands, the distinct words of the query that occur no farther from it than the
    query is long are added up, each by log(1 + 1 / n) where it stands n times in the document, so that a rare word says
    more (the sliding window of Richardson, Burges and Renshaw 2013); a candidate has the sum of its best place.
    """
    words, asked = _folded(text)
    weights = {word: log(1 + 1 / count) for word in asked.values() if (count := words.count(word))}
    reach = len(text.query)

    def overlap(place: int) -> float:
        near = {*words[max(0, place - reach) : place], *words[place + 1 : place + 1 + reach]}
        return sum(weight for word, weight in weights.items() if word in near)

    return _best(text, overlap)


def word_distance(text: Shown) -> int:
    """The candidate in whose place the blank is nearest to the words of the query.

    With the blank laid on a place where a candidate stands, each word of the query has a distance to the nearest word
    of the document that is the same, 8 where there is none so near; the least sum wins (Hermann et al. 2015, without
    their alignment by coreference).
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
    """The words of the document, and those of the query by their places, the blank and punctuation left out."""
    query = {at: word.lower() for at, word in enumerate(text.query) if word != BLANK and any(map(str.isalnum, word))}
    return [word.lower() for word in text.document], query


def _best(text: Shown, score: Callable[[int], float]) -> int:
    """The candidate of the place with the highest score."""
    best = [-float("inf")] * len(text.candidates)
    for place, number in enumerate(occurrences(text.document, text.candidates)):
        if number >= 0:
            best[number] = max(best[number], score(place))
    return best.index(max(best))


def _distance(places: Sequence[int], wanted: int) -> int:
    """From `wanted` to the nearest of some sorted places."""
    at = bisect_left(places, wanted)
    return min([FARTHEST, *(abs(place - wanted) for place in places[max(0, at - 1) : at + 1])])
