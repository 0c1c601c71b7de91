"""Task 18: which things fit into which."""

from __future__ import annotations

from typing import NamedTuple

from zoo.data.stories.samples.story_writer import StoryWriter

SMALL = ("chocolate", "box of chocolates")
"""The smallest thing and the next larger one."""
LARGE = ("box", "chest", "container", "suitcase")
"""Larger things; each story has another order of their sizes."""
BLOCK = 5
TRIES = 60
"""Attempts to find a question before five more facts are added."""


class Fact(NamedTuple):
    """The fact that one thing is smaller than another."""

    line: int
    smaller: str
    larger: str


def size_reasoning(writer: StoryWriter) -> None:
    """Task 18: five facts, then five questions that each need two of the facts.

    If there is no such question, five more facts follow.
    """
    things = (*SMALL, *writer.some(LARGE, len(LARGE)))
    facts: list[Fact] = []
    asked = 0
    while asked < BLOCK:
        for _ in range(BLOCK):
            smaller, larger = (things[place] for place in sorted(writer.some(range(len(things)), 2)))
            if writer.pick((True, False)):
                line = writer.say(f"The {smaller} fits inside the {larger}.")
            else:
                line = writer.say(f"The {larger} is bigger than the {smaller}.")
            facts.append(Fact(line, smaller, larger))
        asked = 0
        while asked < BLOCK and _ask(writer, facts):
            asked += 1


def _ask(writer: StoryWriter, facts: list[Fact]) -> bool:
    """A question about what a recent fact and another one say together: the first other one about one of its things,
    if that goes on from it. With a smaller thing the answer is yes, with a larger one no. Returns whether one was
    found."""
    for _ in range(TRIES):
        fact = writer.recent(facts)[0]
        shared = writer.pick((fact.smaller, fact.larger))
        other = next((f for f in facts if f != fact and shared in (f.smaller, f.larger)), fact)
        if fact.smaller == other.larger == shared:
            yes, small, large = True, other.smaller, fact.larger
        elif fact.larger == other.smaller == shared:
            yes, small, large = False, fact.smaller, other.larger
        else:
            continue
        a, b = (small, large) if yes else (large, small)
        text = writer.pick((f"Does the {a} fit in the {b}?", f"Is the {b} bigger than the {a}?"))
        writer.ask(text, "yes" if yes else "no", (fact.line, other.line))
        return True
    return False
