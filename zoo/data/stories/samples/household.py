"""A household in which people go from room to room and take, drop and hand over things: the world of tasks 2, 3, 5 to 8."""

from __future__ import annotations

import random
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

    At the start all are somewhere, untold. What happens next is drawn among people and kinds of events, each as likely
    as the others (a handing over three times, once for each of its verbs), and drawn again where it cannot be: nobody
    goes where he is, gets what is not there or drops what he has not. What is got or dropped is any such thing, what is
    given the first of `OBJECTS`, to the first of `people` that is there.
    """

    def __init__(
        self, telling: Telling, people: Sequence[str], *, giving: bool = False, gets_there: float = 1.0
    ) -> None:
        self.telling = telling
        self.people = people
        self.kinds: tuple[Kind, ...] = ("go", "get", "drop") + (("give",) * len(GIVE) if giving else ())
        self.gets_there = gets_there
        self.place = {person: telling.pick(ROOMS) for person in people}
        self.holder: dict[str, str | None] = dict.fromkeys(OBJECTS)
        self.lies = {thing: telling.pick(ROOMS) for thing in OBJECTS}
        self.events: list[Event] = []

    def happen(self) -> None:
        """One more event, told."""
        while (event := self._next()) is None:
            pass
        self.events.append(event)

    def _next(self) -> Event | None:
        telling, draw = self.telling, self.telling.draw
        person, kind = telling.pick(self.people), telling.pick(self.kinds)
        here = self.place[person]
        if kind == "go":
            room = telling.pick(ROOMS)
            if room == here:
                return None
            self.place[person] = room
            return Event(telling.say(f"{person} {telling.pick(GO)} to the {room}."), kind, person, room)
        if kind == "get":
            things = [thing for thing in OBJECTS if self.holder[thing] is None and self.lies[thing] == here]
        else:
            things = [thing for thing in OBJECTS if self.holder[thing] == person]
        others = [other for other in self.people if other != person and self.place[other] == here]
        if not things or (kind == "give" and not others):
            return None
        if kind == "give":
            thing, other = things[0], others[0]
            self.holder[thing] = other
            line = telling.say(f"{person} {telling.pick(GIVE)} the {thing} to {other}.")
            return Event(line, kind, person, thing, other)
        thing = telling.pick(things)
        if kind == "get":
            self.holder[thing] = person
            return Event(self._say(GET, person, thing, _chance(draw, self.gets_there)), kind, person, thing)
        self.holder[thing], self.lies[thing] = None, here
        return Event(self._say(DROP, person, thing, _chance(draw, THERE)), kind, person, thing)

    def _say(self, verbs: Sequence[str], person: str, thing: str, there: bool) -> int:
        return self.telling.say(f"{person} {self.telling.pick(verbs)} the {thing}{' there' if there else ''}.")

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


def _chance(draw: random.Random, share: float) -> bool:
    return draw.random() < share
