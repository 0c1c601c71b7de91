"""A household: people go from room to room and take, drop and hand over things. The world of tasks 2, 3 and 5 to 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from zoo.data.stories.samples.telling import Telling
from zoo.data.stories.samples.words import DROP, GET, GIVE, GO, OBJECTS, ROOMS

Kind = Literal["go", "get", "drop", "give"]

THERE = 0.2
"""The share of `there` at the end of a statement that can do without it."""


class Event(NamedTuple):
    """What a statement tells."""

    line: int
    kind: Kind
    person: str
    what: str
    """The room or the thing."""
    to: str | None = None
    """Who is given the thing."""


class Household:
    """Where everybody and everything is, and the events that were told.

    At the start all are somewhere, untold. What happens next is of one of the kinds, each as likely as the others, by
    anybody, and is drawn again where it cannot be: nobody goes where he is, gets what is not there or drops what he has
    not. Only a giving is not left to chance: it is the first of `OBJECTS` that somebody could hand over, and the first
    of `people` who could take it.
    """

    def __init__(
        self, telling: Telling, people: Sequence[str], *, giving: bool = False, gets_there: float = 1.0
    ) -> None:
        self.telling = telling
        self.people = people
        self.kinds: tuple[Kind, ...] = ("go", "get", "drop", "give") if giving else ("go", "get", "drop")
        self.gets_there = gets_there
        self.place = {person: telling.pick(ROOMS) for person in people}
        self.holder: dict[str, str | None] = dict.fromkeys(OBJECTS)
        self.lies: dict[str, str | None] = {thing: telling.pick(ROOMS) for thing in OBJECTS}
        self.events: list[Event] = []

    def happen(self) -> None:
        """One more event, told."""
        while (event := self._next()) is None:
            pass
        self.events.append(event)

    def _next(self) -> Event | None:
        telling = self.telling
        kind, person = telling.pick(self.kinds), telling.pick(self.people)
        if kind == "give":
            return self._give()
        here = self.place[person]
        if kind == "go":
            room = telling.pick(ROOMS)
            if room == here:
                return None
            self.place[person] = room
            return Event(telling.say(f"{person} {telling.pick(GO)} to the {room}."), kind, person, room)
        got = kind == "get"
        things = [t for t in OBJECTS if (self.lies[t] == here if got else self.holder[t] == person)]
        if not things:
            return None
        thing = telling.pick(things)
        self.holder[thing], self.lies[thing] = (person, None) if got else (None, here)
        there = " there" if telling.draw.random() < (self.gets_there if got else THERE) else ""
        line = telling.say(f"{person} {telling.pick(GET if got else DROP)} the {thing}{there}.")
        return Event(line, kind, person, thing)

    def _give(self) -> Event | None:
        for thing in OBJECTS:
            person = self.holder[thing]
            for other in self.people:
                if person and other != person and self.place[other] == self.place[person]:
                    self.holder[thing] = other
                    line = self.telling.say(f"{person} {self.telling.pick(GIVE)} the {thing} to {other}.")
                    return Event(line, "give", person, thing, other)
        return None

    def recent(self, *kinds: Kind) -> list[Event]:
        """Those of the last events, in any order, that are of these kinds."""
        return [event for event in self.telling.recent(self.events) if event.kind in kinds]

    def ways(self, person: str, after: int = 0, before: int | None = None) -> list[Event]:
        """The goings of a person that were told between two lines, the oldest first."""
        end = len(self.telling.lines) + 1 if before is None else before
        return [e for e in self.events if e.kind == "go" and e.person == person and after < e.line < end]

    def dealings(self, thing: str) -> list[Event]:
        """What was told of a thing, the oldest first."""
        return [event for event in self.events if event.kind != "go" and event.what == thing]
