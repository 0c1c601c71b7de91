"""A household: people go from room to room and take, drop and hand over things. The world of tasks 2, 3 and 5 to 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from zoo.data.stories.samples.story_writer import StoryWriter
from zoo.data.stories.samples.words import DROP, GET, GIVE, GO, OBJECTS, ROOMS

Kind = Literal["go", "get", "drop", "give"]

THERE = 0.2
"""Share of statements that end in an optional `there`."""


class Event(NamedTuple):
    """An event, which a statement reports."""

    line: int
    kind: Kind
    person: str
    what: str
    """The room that is entered, or the thing that is moved."""
    to: str | None = None
    """The person who receives the thing."""


class Household:
    """Positions of all people and things, and the reported events.

    The first positions are random and not reported. The kind of the next event and its person are drawn uniformly,
    again if the event is impossible: nobody goes where he is, takes an absent thing or drops a thing that he does not
    have. Only a gift is deterministic: the first of `OBJECTS` that can be handed over, to the first of `people` who can
    take it.
    """

    def __init__(
        self, writer: StoryWriter, people: Sequence[str], *, giving: bool = False, gets_there: float = 1.0
    ) -> None:
        self.writer = writer
        self.people = people
        self.kinds: tuple[Kind, ...] = ("go", "get", "drop", "give") if giving else ("go", "get", "drop")
        self.gets_there = gets_there
        self.place = {person: writer.pick(ROOMS) for person in people}
        self.holder: dict[str, str | None] = dict.fromkeys(OBJECTS)
        self.lies: dict[str, str | None] = {thing: writer.pick(ROOMS) for thing in OBJECTS}
        self.events: list[Event] = []

    def happen(self) -> None:
        """Generate and report one event."""
        while (event := self._next()) is None:
            pass
        self.events.append(event)

    def _next(self) -> Event | None:
        writer = self.writer
        kind, person = writer.pick(self.kinds), writer.pick(self.people)
        if kind == "give":
            return self._give()
        here = self.place[person]
        if kind == "go":
            room = writer.pick(ROOMS)
            if room == here:
                return None
            self.place[person] = room
            return Event(writer.say(f"{person} {writer.pick(GO)} to the {room}."), kind, person, room)
        got = kind == "get"
        things = [t for t in OBJECTS if (self.lies[t] == here if got else self.holder[t] == person)]
        if not things:
            return None
        thing = writer.pick(things)
        self.holder[thing], self.lies[thing] = (person, None) if got else (None, here)
        there = " there" if writer.draw.random() < (self.gets_there if got else THERE) else ""
        line = writer.say(f"{person} {writer.pick(GET if got else DROP)} the {thing}{there}.")
        return Event(line, kind, person, thing)

    def _give(self) -> Event | None:
        for thing in OBJECTS:
            person = self.holder[thing]
            for other in self.people:
                if person and other != person and self.place[other] == self.place[person]:
                    self.holder[thing] = other
                    line = self.writer.say(f"{person} {self.writer.pick(GIVE)} the {thing} to {other}.")
                    return Event(line, "give", person, thing, other)
        return None

    def recent(self, *kinds: Kind) -> list[Event]:
        """The last events of the given kinds, in random order."""
        return [event for event in self.writer.recent(self.events) if event.kind in kinds]

    def ways(self, person: str, after: int = 0, before: int | None = None) -> list[Event]:
        """The moves of a person that were reported between two lines, the oldest first."""
        end = len(self.writer.lines) + 1 if before is None else before
        return [e for e in self.events if e.kind == "go" and e.person == person and after < e.line < end]

    def dealings(self, thing: str) -> list[Event]:
        """The reported events of a thing, the oldest first."""
        return [event for event in self.events if event.kind != "go" and event.what == thing]
