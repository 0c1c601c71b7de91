"""Parsers of the samples' own grammars, so that a network trained on a sample can read plain text.

A network that was trained on parses reads other trees badly: with balanced trees its scores fall to those of a bag of
words. `PARSERS` has a parser for each sample.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from math import inf, log

from zoo.data.trees.samples import lexicon, relatedness
from zoo.data.trees.samples.phrases import Phrase, before, grammar, then, trees
from zoo.data.trees.samples.sentiment import CATEGORIES, RULES
from zoo.data.trees.tree import Tree

Cell = dict[str, tuple[float, tuple[str, int, str] | str | None]]
"""Symbol -> log-probability of its best tree over a span, and the parts of this tree: (left symbol, its end, right
symbol), or one lower symbol, or None for a word."""


class Parser:
    """Finds the most probable binary tree of a sentence by Viterbi's algorithm."""

    def __init__(
        self,
        rules: Mapping[str, Mapping[str, float]],
        categories: Mapping[str, Iterable[str]],
        head_last: Iterable[str] = (),
    ) -> None:
        """`rules` and `categories` are those of a sample, with the start symbol TEXT.

        The second part is the head of a symbol in `head_last`, the first part that of any other symbol.
        """
        self.categories = {kind: frozenset(words) for kind, words in categories.items()}
        self.symbols, self.head_last = {*categories, *rules}, frozenset(head_last)
        self.pairs: dict[tuple[str, ...], list[tuple[str, float]]] = {}
        self.single: list[tuple[str, str, float]] = []
        """Symbols with one part, lower symbols first."""
        lower = {symbol: [one for one in expansions if " " not in one] for symbol, expansions in rules.items()}
        for symbol in TopologicalSorter(lower).static_order():
            expansions = rules.get(symbol, {})
            for expansion, weight in expansions.items():
                likely = log(weight / sum(expansions.values()))
                if " " in expansion:
                    self.pairs.setdefault(tuple(expansion.split()), []).append((symbol, likely))
                else:
                    self.single.append((symbol, expansion, likely))

    def _raised(self, cell: Cell) -> Cell:
        for symbol, lower, weight in self.single:
            if lower in cell and cell[lower][0] + weight > cell.get(symbol, (-inf,))[0]:
                cell[symbol] = cell[lower][0] + weight, lower
        return cell

    def __call__(self, words: Sequence[str]) -> Phrase | str | None:
        """The best tree; None for a sentence that the grammar cannot parse."""
        chart: dict[tuple[int, int], Cell] = {}
        for at, word in enumerate(words):
            cell: Cell = {kind: (-log(len(some)), None) for kind, some in self.categories.items() if word in some}
            if word not in self.symbols:
                cell[word] = 0.0, None
            chart[at, at + 1] = self._raised(cell)
        for width in range(2, len(words) + 1):
            for first in range(len(words) - width + 1):
                cell = {}
                for middle in range(first + 1, first + width):
                    for left, (of_left, _) in chart[first, middle].items():
                        for right, (of_right, _) in chart[middle, first + width].items():
                            for symbol, weight in self.pairs.get((left, right), ()):
                                likely = weight + of_left + of_right
                                if likely > cell.get(symbol, (-inf,))[0]:
                                    cell[symbol] = likely, (left, middle, right)
                chart[first, first + width] = self._raised(cell)

        def best(first: int, last: int, symbol: str) -> Phrase | str:
            while isinstance(parts := chart[first, last][symbol][1], str):
                symbol = parts
            if parts is None:
                return words[first]
            left, middle, right = parts
            join = before if symbol in self.head_last else then
            return join(best(first, middle, left), best(middle, last, right))

        return best(0, len(words), "TEXT") if "TEXT" in chart.get((0, len(words)), {}) else None


SENTIMENT = Parser(RULES, CATEGORIES)


def sentiment(words: Sequence[str], inside: bool) -> Tree | None:
    """The most probable binary tree of an ambiguous grammar."""
    found = SENTIMENT(words)
    return None if found is None else trees(found)[0]


def _words(*kinds: dict[str, tuple[str, ...]]) -> set[str]:
    return {word for kind in kinds for words in kind.values() for word in words}


RELATEDNESS = Parser(
    grammar("""
        TEXT: NOUN IS;  IS: is DOES 1 | is NOT 1;  NOT: not DOES
        DOES: state 1 | act NOUN 1 | done BY 1 | DOES PLACE 1
        BY: by NOUN;  PLACE: preposition NOUN
        NOUN: THING 1 | THING CLAUSE 1;  THING: article NAMED;  NAMED: noun 1 | quality noun 1
        CLAUSE: that DEALS 1 | that PASSIVE 1;  DEALS: dealing THING
        PASSIVE: is DEALT;  DEALT: dealt BY_THING;  BY_THING: by THING
    """),
    {
        "article": ("a", "an", "the"),
        "noun": _words(relatedness.NOUNS),
        "quality": _words(relatedness.QUALITIES),
        "state": _words(lexicon.STATES),
        "act": _words(lexicon.ACTS),
        "done": {lexicon.PARTICIPLES[word] for word in _words(lexicon.ACTS)},
        "dealing": _words(lexicon.DEALINGS),
        "dealt": {lexicon.PARTICIPLES[word] for word in _words(lexicon.DEALINGS)},
        "preposition": {*_words(lexicon.PREPOSITIONS), "with"},
    },
    head_last=("TEXT", "IS", "NOT", "THING", "NAMED", "CLAUSE", "PASSIVE"),
)
"""Parses the sentences that `relatedness.sentence` makes; the grammar is not ambiguous."""


def pairs(words: Sequence[str], inside: bool) -> Tree | None:
    """The dependency tree of a sentence if `inside`, else its binary tree; None if the grammar does not parse it."""
    stopped = bool(words) and words[-1] == "."
    found = RELATEDNESS(words[:-1] if stopped else words)
    if found is None:
        return None
    tree = relatedness.tree(found, "dependency" if inside else "constituency")
    return tree if stopped or not inside else tree._replace(words=list(words))


PARSERS: dict[str, Callable[[Sequence[str], bool], Tree | None]] = {"sst": sentiment, "sick": pairs}
"""The parser of each data set, by name. It returns the tree of words, or None if the grammar cannot parse them. If its
second argument is True, nodes with children have words."""
EXAMPLES = {"sst": "critics loved this film .", "sick": "the clever monkey is crying ."}
