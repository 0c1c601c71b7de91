"""Task 18: what fits into what."""

from __future__ import annotations

from typing import NamedTuple

from zoo.data.stories.samples.telling import Telling

SMALL = ("chocolate", "box of chocolates")
"""The smallest one and the one above it."""
LARGE = ("box", "chest", "container", "suitcase")
"""Larger than these; their sizes are another order in each story."""
BLOCK = 5
TRIES = 20
"""How often a question is looked for before five more facts are told."""


class Fact(NamedTuple):
    """That one thing is smaller than another."""

    line: int
    smaller: str
    larger: str


def size_reasoning(telling: Telling) -> None:
    """Task 18: five facts, then five questions that take two of the facts; where there is no such question, five facts
    more."""
    things = (*SMALL, *telling.some(LARGE, len(LARGE)))
    facts: list[Fact] = []
    asked = 0
    while asked < BLOCK:
        for _ in range(BLOCK):
            smaller, larger = (things[place] for place in sorted(telling.some(range(len(things)), 2)))
            if telling.pick((True, False)):
                line = telling.say(f"The {smaller} fits inside the {larger}.")
            else:
                line = telling.say(f"The {larger} is bigger than the {smaller}.")
            facts.append(Fact(line, smaller, larger))
        asked = 0
        while asked < BLOCK and _ask(telling, facts):
            asked += 1


def _ask(telling: Telling, facts: list[Fact]) -> bool:
    """A question about what a recent fact and the first one that continues it say together."""
    for _ in range(TRIES):
        fact = telling.recent(facts)[0]
        if telling.pick((True, False)):
            pairs = [(fact, above) for above in facts if above.smaller == fact.larger]
        else:
            pairs = [(below, fact) for below in facts if below.larger == fact.smaller]
        if pairs:
            below, above = pairs[0]
            yes = telling.pick((True, False))
            a, b = (below.smaller, above.larger) if yes else (above.larger, below.smaller)
            text = telling.pick((f"Does the {a} fit in the {b}?", f"Is the {b} bigger than the {a}?"))
            supporting = (above.line, below.line) if yes else (below.line, above.line)
            telling.ask(text, "yes" if yes else "no", supporting)
            return True
    return False
