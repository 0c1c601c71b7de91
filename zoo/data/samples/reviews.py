"""The embedded Yelp sample: restaurant reviews made from patterns, with the words known that decided their stars.

The writer gives this restaurant one opinion on a main aspect, marked as such in its sentence, and two or three on others.
The score is their mean, the main one counted MAIN_WEIGHT times; the stars are the score cut at THRESHOLDS. Opinions of
others or of other places (decoys) use the same words and do not count, nor do fillers.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Iterator
from typing import NamedTuple

from zoo.data.samples.phrases import ASPECTS, BAD, DECOY, FILLER, FREE, GOOD, MAIN, MINOR, STRENGTH, Aspect

MAIN_WEIGHT = 3
THRESHOLDS = (-1.2, -0.4, 0.4, 1.2)
MARGIN = 0.15
NEGATED = 0.25
MINORS = (2, 6)
DECOYS = (1, 3)
FILLERS = (1, 3)


class Review(NamedTuple):
    sentences: list[list[str]]
    evidence: list[list[bool]]
    label: int


class Opinion(NamedTuple):
    aspect: Aspect
    polarity: int
    negated: bool
    intensity: int

    @property
    def value(self):
        return self.polarity * (-1 if self.negated else 1) * self.intensity


PATTERNS = {
    name: tuple(tuple(p.split()) for p in ps)
    for name, ps in dict(main=MAIN, minor=MINOR, decoy=DECOY, filler=FILLER).items()
}


def opinion(rng, aspect):
    return Opinion(aspect, rng.choice((-1, 1)), rng.random() < NEGATED, rng.choice((1, 2)))


def score(main, minors):
    return (MAIN_WEIGHT * main.value + sum(m.value for m in minors)) / (MAIN_WEIGHT + len(minors))


def sentence(rng, kind, aspect, op):
    tokens, evidence = [], []
    for part in rng.choice(PATTERNS[kind]):
        if part[0] != "{":
            tokens.append(part)
            evidence.append(False)
            continue
        slot = part[1:-1]
        if slot == "opinion":
            adj = rng.choice((aspect.good + GOOD) if op.polarity > 0 else (aspect.bad + BAD))
            words = rng.choice(STRENGTH[op.negated, op.intensity]).split() + [adj]
        elif slot == "aspect":
            words = rng.choice(aspect.things).split()
        elif slot == "topic":
            words = aspect.topic.split()
        else:
            words = rng.choice(FREE[slot]).split()
        tokens += words
        evidence += [slot == "opinion" and kind in ("main", "minor")] * len(words)
    return tokens, evidence


def review(index, *, seed):
    rng = random.Random(f"review {seed} {index}")
    label = rng.randrange(5)
    while True:
        aspects = rng.sample(ASPECTS, 4)
        aspects = aspects[:1] + rng.choices(aspects[1:], k=9)
        main = opinion(rng, aspects[0])
        minors = [opinion(rng, a) for a in aspects[1 : 1 + rng.randint(*MINORS)]]
        s = score(main, minors)
        if bisect(THRESHOLDS, s) == label and min(abs(s - t) for t in THRESHOLDS) > MARGIN:
            break
    rows = [sentence(rng, "main", main.aspect, main)] + [sentence(rng, "minor", m.aspect, m) for m in minors]
    for _ in range(rng.randint(*DECOYS)):
        a = rng.choice(ASPECTS)
        rows.append(sentence(rng, "decoy", a, opinion(rng, a)))
    for _ in range(rng.randint(*FILLERS)):
        rows.append(sentence(rng, "filler", rng.choice(ASPECTS), None))
    rng.shuffle(rows)
    return Review([r[0] for r in rows], [r[1] for r in rows], label)


def generate(count: int, *, seed: int) -> Iterator[Review]:
    for i in range(count):
        yield review(i, seed=seed)
