"""The embedded Yelp sample: restaurant reviews made from patterns, with known evidence words for their stars.

The writer gives this restaurant one opinion on a main aspect, marked as such in its own sentence, and MINORS on others.
The score is their mean, the main one counted MAIN_WEIGHT times; the stars are the score cut at THRESHOLDS. Opinions of
others or of other places (decoys) use the same words and do not count, nor do fillers, which only name an aspect.
"""

import random
from bisect import bisect
from collections.abc import Iterator
from typing import NamedTuple

from zoo.data.documents.samples import Document, filled, patterns
from zoo.data.documents.samples.phrases import ASPECTS, BAD, DECOY, FILLER, FREE, GOOD, MAIN, MINOR, STRENGTH, Aspect

MAIN_WEIGHT = 3  # How many times the main opinion counts
THRESHOLDS = (-1.2, -0.4, 0.4, 1.2)  # Limits that divide the score, -2 to 2, into 1 to 5 stars
MARGIN = 0.25  # Reviews whose score lies closer than this to a threshold are drawn again
NEGATED = 0.25  # Share of negated opinions, such as "not bad" or "hardly tasteless"
MINORS, DECOYS, FILLERS = (2, 6), (1, 3), (1, 3)
"""Fewest and most sentences of each kind in a review."""


class Opinion(NamedTuple):
    """Somebody's opinion of an aspect."""

    aspect: Aspect
    polarity: int  # Polarity of the adjective: 1 good, -1 bad
    negated: bool
    intensity: int  # 1 or 2

    @property
    def value(self) -> int:
        """The opinion as a number from -2 to 2; a negation reverses its sign."""
        return self.polarity * (-1 if self.negated else 1) * self.intensity


PATTERNS = {
    kind: patterns(lines) for kind, lines in {"main": MAIN, "minor": MINOR, "decoy": DECOY, "filler": FILLER}.items()
}


def generate(count: int, *, seed: int) -> Iterator[Document]:
    """`count` reviews; review i depends on `seed` and i alone."""
    for index in range(count):
        yield _review(random.Random(f"review {seed} {index}"))


def _review(draw: random.Random) -> Document:
    label = draw.randrange(len(THRESHOLDS) + 1)  # first, so that all stars are equally frequent
    main, minors = _opinions(draw)
    value = score(main, minors)
    while bisect(THRESHOLDS, value) != label or min(abs(value - cut) for cut in THRESHOLDS) <= MARGIN:
        main, minors = _opinions(draw)
        value = score(main, minors)
    rows = [_sentence(draw, "main", main.aspect, main)]
    rows += [_sentence(draw, "minor", minor.aspect, minor) for minor in minors]
    for _ in range(draw.randint(*DECOYS)):
        aspect = draw.choice(ASPECTS)
        rows.append(_sentence(draw, "decoy", aspect, _opinion(draw, aspect)))
    for _ in range(draw.randint(*FILLERS)):
        rows.append(_sentence(draw, "filler", draw.choice(ASPECTS), None))
    draw.shuffle(rows)
    return Document([words for words, _ in rows], [evidence for _, evidence in rows], label)


def score(main: Opinion, minors: list[Opinion]) -> float:
    """The weighted mean of the opinions that count, -2 to 2."""
    return (MAIN_WEIGHT * main.value + sum(minor.value for minor in minors)) / (MAIN_WEIGHT + len(minors))


def _opinions(draw: random.Random) -> tuple[Opinion, list[Opinion]]:
    """The main opinion and the minor ones, which are of other aspects."""
    first, *others = draw.sample(ASPECTS, len(ASPECTS))
    main = _opinion(draw, first)
    return main, [_opinion(draw, draw.choice(others)) for _ in range(draw.randint(*MINORS))]


def _opinion(draw: random.Random, aspect: Aspect) -> Opinion:
    return Opinion(aspect, draw.choice((-1, 1)), draw.random() < NEGATED, draw.choice((1, 2)))


def _sentence(draw: random.Random, kind: str, aspect: Aspect, opinion: Opinion | None) -> tuple[list[str], list[bool]]:
    """The words of a sentence of `kind` about `aspect`, and a mask that is True at evidence."""

    def fill(slot: str) -> list[str]:
        if slot == "topic":
            return aspect.topic.split()
        if slot != "opinion":
            return draw.choice(aspect.things if slot == "aspect" else FREE[slot]).split()
        assert opinion is not None
        adjectives = (*aspect.good, *GOOD) if opinion.polarity > 0 else (*aspect.bad, *BAD)
        return [*draw.choice(STRENGTH[opinion.negated, opinion.intensity]).split(), draw.choice(adjectives)]

    return filled(draw.choice(PATTERNS[kind]), fill, ("opinion",) if kind in ("main", "minor") else ())
