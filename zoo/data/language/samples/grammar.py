"""The embedded sample of language models: a text of known entropy, written by a finite-state grammar.

A line is a sentence. Its verb agrees in number with a subject 1 to 12 words before it, and each of these distances is
equally frequent. The nouns between them have either number, so that a model which sees fewer words than the distance
can only guess. Verbs of relative and of adverbial clauses agree with subjects of their own. No other word shows the
number of a subject.

A sentence is a walk through a graph whose arcs are slots for words. The words of the slots depend on a hidden theme,
which usually stays the same in the next line. The words written so far determine the node of the graph, and by Bayes'
rule the probabilities of the themes: the forward algorithm. Hence the probability of each word after all words before
it is exact, and no model can have a lower expected surprisal.

Notation: Z themes.
"""

import random
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
WORDS: Mapping[str, Mapping[str, str]] = _TABLES["words"]
"""Kind of words -> theme, or `any` -> its words, each in one form or in both."""
PATTERNS = _TABLES["patterns"]
END, ANY, VERBS = "end", "any", ("moves", "acts")
RIVALS: Mapping[str, str] = {
    form: other
    for verb in VERBS
    for words in WORDS[verb].values()
    for pair in words.split()
    for form, other in zip(pair.split("/"), pair.split("/")[::-1], strict=True)
}
"""Each form of a verb -> its form of the other number."""


class Slot(NamedTuple):
    """A place for a word in a sentence."""

    kind: str
    """Kind of words, `end`, or the word itself."""
    number: int | None = None
    """0 singular, 1 plural, None either."""
    subject: str = ""
    """The name that a subject and its verb share."""


class Arc(NamedTuple):
    """A slot, its probability at the node where it begins, and the node where it leads."""

    probability: float
    slot: Slot
    goal: int


class Line(NamedTuple):
    """A sentence, without the token that ends the line."""

    words: tuple[str, ...]
    verbs: tuple[tuple[int, int], ...]
    """The position of each verb that agrees with a subject, and how many words before it the subject is."""


class Grammar:
    """The source of the text.

    Args:
        stay: probability that the theme of a line remains in the next line. The first line has any theme.
        preference: how many times as frequent as other words those of the theme are.
    """

    def __init__(self, *, stay: float = 0.9, preference: float = 8.0) -> None:
        self.preference = preference
        self.themes = [theme for theme in WORDS["noun"] if theme != ANY]
        count = len(self.themes)
        self.turns = np.full((count, count), (1 - stay) / (count - 1))  # (Z, Z)
        np.fill_diagonal(self.turns, stay)
        self._weights: list[dict[Slot, tuple[float, int]]] = [{}]
        ends = {verb: self._node() for verb in VERBS}
        for opening, subject, verb in product(PATTERNS["opening"], PATTERNS["subject"], VERBS):
            for group in PATTERNS["between"]:
                for between in group:
                    self._add(0, f"{opening} {subject} {between} {verb}1", 1 / len(group), ends[verb])
        for verb, node in ends.items():
            for pattern in PATTERNS[verb]:
                self._add(node, pattern, 1.0, 0)
        self.nodes = [
            [Arc(weight / sum(each for each, _ in arcs.values()), slot, goal) for slot, (weight, goal) in arcs.items()]
            for arcs in self._weights
        ]
        """The arcs that leave each node. Lines begin at the first node."""

    def _node(self) -> int:
        self._weights.append({})
        return len(self._weights) - 1

    def _add(self, node: int, pattern: str, weight: float, goal: int) -> None:
        """Add the paths of a pattern, one for each choice of numbers, from a node to a goal. Equal beginnings are one
        path."""
        ways = agreeing(pattern)
        for slots in ways:
            at = node
            for slot in slots[:-1]:
                before, after = self._weights[at].get(slot) or (0.0, self._node())
                self._weights[at][slot] = before + weight / len(ways), after
                at = after
            before, _ = self._weights[at].get(slots[-1], (0.0, goal))
            self._weights[at][slots[-1]] = before + weight / len(ways), goal

    @cached_property
    def arcs_of(self) -> list[dict[str, tuple[int, np.ndarray]]]:
        """Each node -> each word that can follow it -> the next node, and the word's probability (Z,) by theme."""
        return [
            {
                word: (arc.goal, arc.probability * chance)
                for arc in arcs
                for word, chance in self.words(arc.slot).items()
            }
            for arcs in self.nodes
        ]

    @cache  # noqa: B019
    def words(self, slot: Slot) -> dict[str, np.ndarray]:
        """The probability (Z,) of each word in a slot, by theme."""
        if slot.kind not in WORDS:
            return {slot.kind: np.ones(len(self.themes))}
        found = {}
        for theme, words in WORDS[slot.kind].items():
            weight = np.array([self.preference if theme == each else 1.0 for each in self.themes])
            for forms in (word.split("/") for word in words.split()):
                chosen = forms if slot.number is None else [forms[slot.number]]
                found.update({form: weight / len(chosen) for form in chosen})
        total = np.sum([*found.values()], axis=0)
        return {word: weight / total for word, weight in found.items()}

    def text(self, sentences: int, seed: int) -> list[Line]:
        """A text of that many lines. A longer text of the same seed begins with the same lines."""
        draw = random.Random(f"grammar {seed}")
        theme = draw.randrange(len(self.themes))
        found = []
        for _ in range(sentences):
            found.append(self._line(draw, theme))
            theme = draw.choices(range(len(self.themes)), self.turns[theme])[0]
        return found

    def _line(self, draw: random.Random, theme: int) -> Line:
        words, verbs, subjects = list[str](), list[tuple[int, int]](), dict[str, int]()
        node = 0
        while True:
            arcs = self.nodes[node]
            _, slot, node = draw.choices(arcs, [arc.probability for arc in arcs])[0]
            if slot.kind == END:
                return Line(tuple(words), tuple(verbs))
            if slot.kind in VERBS:
                verbs.append((len(words), len(words) - subjects[slot.subject]))
            elif slot.subject:
                subjects[slot.subject] = len(words)
            choices = self.words(slot)
            words.append(draw.choices([*choices], [chance[theme] for chance in choices.values()])[0])

    def surprisal(self, tokens: Iterable[str], end: str) -> np.ndarray:
        """-log p (N,) in nats of each token after all tokens before it, of a text that begins with a line.

        `end` is the token that ends a line. Raises ValueError for a token that cannot follow.
        """
        themes = np.full(len(self.themes), 1 / len(self.themes))  # (Z,)
        node, found = 0, []
        for at, token in enumerate(tokens):
            arc = self.arcs_of[node].get(END if token == end else token)
            if arc is None:
                raise ValueError(f"token {at}, {token!r}, cannot follow the tokens before it in the grammar")
            node, chance = arc
            themes = themes * chance
            total = themes.sum()
            found.append(total)
            themes = themes / total
            if node == 0:
                themes = themes @ self.turns
        return -np.log(np.array(found))


def agreeing(pattern: str) -> list[tuple[Slot, ...]]:
    """The slots of a pattern, with each choice of numbers for its subjects. A verb has the number of the last subject
    of its name."""
    found: list[tuple[Slot, ...]] = [()]
    for token in pattern.split():
        kind = token.rstrip("0123456789")
        subject = token[len(kind) :]
        if not subject:
            found = [(*slots, Slot(kind)) for slots in found]
        elif kind in VERBS:
            numbers = [next(slot.number for slot in reversed(slots) if slot.subject == subject) for slots in found]
            found = [(*slots, Slot(kind, number, subject)) for slots, number in zip(found, numbers, strict=True)]
        else:
            found = [(*slots, Slot(kind, number, subject)) for slots in found for number in (0, 1)]
    return found


GRAMMAR = Grammar()
text, surprisal = GRAMMAR.text, GRAMMAR.surprisal
