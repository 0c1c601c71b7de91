"""Parsers of the samples' own grammars, so that a network trained on a sample can read plain text.

A network that was trained on parses reads other trees badly: with balanced trees its scores fall to those of a bag of
words. `PARSERS` has a parser for each sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import log

from zoo.data.trees.samples import lexicon
from zoo.data.trees.samples.relatedness import NOUNS, QUALITIES, Phrase
from zoo.data.trees.samples.relatedness import tree as relatedness_tree
from zoo.data.trees.samples.sentiment import CATEGORIES, RULES
from zoo.data.trees.tree import Tree

# Sentiment: the most probable tree of an ambiguous grammar

Cell = dict[str, tuple[float, tuple[str, int, str] | str | None]]
"""Symbol -> log-probability of its best tree over a span, and its parts: a left symbol, where it ends, a right symbol;
or one lower symbol; or None for a word."""


@cache
def _rules() -> tuple[dict[tuple[str, str], list[tuple[str, float]]], list[tuple[str, str, float]]]:
    """The symbols of two parts, and those of one part with lower symbols first."""
    pairs: dict[tuple[str, str], list[tuple[str, float]]] = {}
    single: list[tuple[str, str, float]] = []
    done: set[str] = set()

    def visit(symbol: str) -> None:
        if symbol in done or symbol not in RULES:
            return
        done.add(symbol)
        total = sum(RULES[symbol].values())
        for expansion, weight in RULES[symbol].items():
            parts = expansion.split()
            if len(parts) == 2:
                pairs.setdefault((parts[0], parts[1]), []).append((symbol, log(weight / total)))
            else:
                visit(parts[0])
                single.append((symbol, parts[0], log(weight / total)))

    for symbol in RULES:
        visit(symbol)
    return pairs, single


def _raised(cell: Cell) -> Cell:
    for symbol, lower, weight in _rules()[1]:
        if lower in cell and cell[lower][0] + weight > cell.get(symbol, (-float("inf"),))[0]:
            cell[symbol] = cell[lower][0] + weight, lower
    return cell


def sentiment(words: Sequence[str], inside: bool) -> Tree | None:
    """The most probable binary tree of a sentence by Viterbi's algorithm; None if the grammar does not have it."""
    size, pairs = len(words), _rules()[0]
    chart: dict[tuple[int, int], Cell] = {}
    for at, word in enumerate(words):
        kinds: Cell = {kind: (-log(len(some)), None) for kind, some in CATEGORIES.items() if word in some}
        chart[at, at + 1] = _raised(kinds | ({} if word in CATEGORIES or word in RULES else {word: (0.0, None)}))
    for width in range(2, size + 1):
        for first in range(size - width + 1):
            cell: Cell = {}
            for middle in range(first + 1, first + width):
                for left, (of_left, _) in chart[first, middle].items():
                    for right, (of_right, _) in chart[middle, first + width].items():
                        for symbol, weight in pairs.get((left, right), ()):
                            likely = weight + of_left + of_right
                            if likely > cell.get(symbol, (-float("inf"),))[0]:
                                cell[symbol] = likely, (left, middle, right)
            chart[first, first + width] = _raised(cell)
    if "TEXT" not in chart.get((0, size), {}):
        return None
    parent: list[int] = []
    leaf: list[int] = []

    def grow(first: int, last: int, symbol: str, above: int) -> None:
        parts = chart[first, last][symbol][1]
        while isinstance(parts, str):
            parts = chart[first, last][parts][1]
        node = len(parent)
        parent.append(above)
        leaf.append(first if parts is None else -1)
        if parts is not None:
            left, middle, right = parts
            grow(first, middle, left, node)
            grow(middle, last, right, node)

    grow(0, size, "TEXT", -1)
    return Tree(list(words), parent, leaf, [None] * len(parent))


# Relatedness: the only tree of an unambiguous grammar


def _words(*kinds: dict[str, tuple[str, ...]]) -> set[str]:
    return {word for kind in kinds for words in kind.values() for word in words}


NOUN, QUALITY = _words(NOUNS), _words(QUALITIES)
STATE, ACT, DEALING = _words(lexicon.STATES), _words(lexicon.ACTS), _words(lexicon.DEALINGS)
DONE = {lexicon.PARTICIPLES[word] for word in ACT}
DEALT = {lexicon.PARTICIPLES[word] for word in DEALING}
PREPOSITION = _words(lexicon.PREPOSITIONS) | {"with"}


class _Reader:
    """Reads the words of a sentence in their order. Raises ValueError at a word that the grammar does not allow."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words, self._at = list(words), 0

    def ends(self) -> bool:
        return self._at == len(self._words)

    def sees(self, kind: set[str]) -> bool:
        return not self.ends() and self._words[self._at] in kind

    def take(self, kind: set[str]) -> Phrase:
        if not self.sees(kind):
            raise ValueError(self._at)
        self._at += 1
        return Phrase.of(self._words[self._at - 1])

    def sentence(self) -> Phrase:
        subject, before = self.noun(), [self.take({"is"})]
        if self.sees({"not"}):
            before.append(self.take({"not"}))
        does = self.take(STATE | ACT | DONE)
        if does.words[0] in ACT:
            does = does.then(self.noun())
        elif does.words[0] in DONE:
            does = does.then(self.take({"by"}).then(self.noun()))
        while self.sees(PREPOSITION):
            does = does.then(self.take(PREPOSITION).then(self.noun()))
        for word in reversed(before):
            does = word.before(does)
        if not self.ends():
            raise ValueError(self._at)
        return subject.before(does)

    def noun(self, clause: bool = True) -> Phrase:
        article = self.take({"a", "an", "the"})
        qualities = [self.take(QUALITY)] if self.sees(QUALITY) else []
        found = self.take(NOUN)
        for word in [*qualities, article]:
            found = word.before(found)
        if not (clause and self.sees({"that"})):
            return found
        that = self.take({"that"})
        if self.sees({"is"}):
            passive = self.take({"is"})
            dealt = self.take(DEALT).then(self.take({"by"}).then(self.noun(clause=False)))
            return found.then(that.before(passive.before(dealt)))
        return found.then(that.before(self.take(DEALING).then(self.noun(clause=False))))


def relatedness(words: Sequence[str], inside: bool) -> Tree | None:
    """The dependency tree of a sentence, with `inside`, or its binary tree; None if the grammar does not have it."""
    read = [*words[:-1]] if words and words[-1] == "." else [*words]
    try:
        phrase = _Reader(read).sentence()
    except ValueError:
        return None
    found = relatedness_tree(phrase, "dependency" if inside else "constituency")
    return found if len(read) < len(words) or not inside else found._replace(words=list(words))


PARSERS: dict[str, Callable[[Sequence[str], bool], Tree | None]] = {"sst": sentiment, "sick": relatedness}
"""By the name of the data: the tree of words, in which nodes with children have words if the second argument is True;
None for a sentence that is not of the grammar."""
EXAMPLES = {"sst": "critics loved this film .", "sick": "the clever monkey is crying ."}
