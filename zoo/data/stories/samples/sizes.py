"""Task 18: what fits into what."""

from __future__ import annotations

from typing import NamedTuple

from zoo.data.stories.samples.telling import Telling

SMALL = ("chocolate", "box of chocolates")
"""The smallest one and the one above it."""
LARGE = ("box", "chest", "container", "suitcase")
"""Larger than these; their sizes are another order in each story."""
BLOCK = 5
TRIES = 60
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
    """A question about what a recent fact and another one say together: the first other one about one of its things,
    if that goes on from it. With a smaller thing the answer is yes, with a larger one no. Returns whether one was
    found."""
    for _ in range(TRIES):
        fact = telling.recent(facts)[0]
        shared = telling.pick((fact.smaller, fact.larger))
        other = next((f for f in facts if f != fact and shared in (f.smaller, f.larger)), fact)
        if fact.smaller == other.larger == shared:
            yes, small, large = True, other.smaller, fact.larger
        elif fact.larger == other.smaller == shared:
            yes, small, large = False, fact.smaller, other.larger
        else:
            continue
        a, b = (small, large) if yes else (large, small)
        text = telling.pick((f"Does the {a} fit in the {b}?", f"Is the {b} bigger than the {a}?"))
        telling.ask(text, "yes" if yes else "no", (fact.line, other.line))
        return True
    return False
