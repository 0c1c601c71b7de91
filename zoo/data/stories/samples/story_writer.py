"""The writer of a story, its numbered lines in order, and the words of the tasks in a house or a town."""

import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

from zoo.data.stories.story import Line

T = TypeVar("T")

RECENT = 5  # A question refers to one of the last five facts, as in all official stories

HE = ("John", "Daniel")
HOUSEHOLD = ("Mary", "John", "Daniel", "Sandra")
TRADERS = ("Mary", "Fred", "Bill", "Jeff")
RECEIVERS = ("John", "Mary", "Sandra", "Daniel")
"""The household of task 7. In `TRADERS` and here, earlier people receive a thing before later ones."""
TOWNSFOLK = ("Mary", "Fred", "Bill", "Julie")

ROOMS = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
TOWN = ("bedroom", "cinema", "kitchen", "office", "park", "school")
OBJECTS = ("apple", "football", "milk")

GO = ("went", "went back", "moved", "journeyed", "travelled")
GET = ("got", "took", "grabbed", "picked up")
DROP = ("dropped", "left", "discarded", "put down")
GIVE = ("gave", "handed", "passed")
THEN = ("After that", "Afterwards", "Following that", "Then")
TIMES = ("yesterday", "this morning", "this afternoon", "this evening")


class StoryWriter:
    """A story that is being written; `draw` is the source of all its random choices."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.lines: list[Line] = []

    def say(self, text: str) -> int:
        """Adds a statement. Returns the number of its line."""
        self.lines.append(Line(text))
        return len(self.lines)

    def ask(self, text: str, answer: str, supporting: Iterable[int]) -> None:
        """Adds a question with its answer and the numbers of the lines that the answer follows from."""
        self.lines.append(Line(text, answer, tuple(supporting)))

    def pick(self, of: Sequence[T]) -> T:
        """Draw one element uniformly."""
        return self.draw.choice(of)

    def other(self, of: Iterable[T], *than: T | None) -> T:
        """Draw one element uniformly, but none of `than`."""
        return self.pick([one for one in of if one not in than])

    def some(self, of: Sequence[T], count: int) -> list[T]:
        """Draw `count` different elements in random order."""
        return self.draw.sample(of, count)

    def recent(self, facts: Sequence[T]) -> list[T]:
        """The last `RECENT` facts in random order: the facts that a question may refer to."""
        return self.some(facts[-RECENT:], min(RECENT, len(facts)))
