"""Tasks 2, 3 and 5 to 8: positions of things and people, gifts, and carried things.

People go from room to room and take, drop and hand over things.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from zoo.data.stories.samples.story_writer import DROP, GET, GIVE, GO, OBJECTS, ROOMS, StoryWriter

QUESTIONS = 5
NUMBERS = ("none", "one", "two", "three")
Kind = Literal["go", "get", "drop", "give"]
Question = tuple[str, str, Iterable[int]]  # Its text, its answer and the supporting lines
THERE = 0.2  # Share of statements that end in an optional `there`


class Event(NamedTuple):
    """An event, which a statement reports."""

    line: int
    kind: Kind
    person: str
    what: str  # The room that is entered, or the thing that is moved
    to: str | None = None  # The person who receives the thing


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

    def ways(self, person: str, after: int = 0, before: int | None = None) -> list[Event]:
        """The moves of a person that were reported between two lines, the oldest first."""
        end = len(self.writer.lines) + 1 if before is None else before
        return [e for e in self.events if e.kind == "go" and e.person == person and after < e.line < end]

    def dealings(self, thing: str) -> list[Event]:
        """The reported events of a thing, the oldest first."""
        return [event for event in self.events if event.kind != "go" and event.what == thing]


def tell(
    writer: StoryWriter, ask: Callable[[Household, Event], Question | None], about: Sequence[Kind], **household: Any
) -> None:
    """Generate two events, then a question by `ask` about a recent event of the kinds `about` if one can be asked,
    until there are five questions. `household` are the arguments of `Household`."""
    house, asked = Household(writer, **household), 0
    while asked < QUESTIONS:
        house.happen()
        house.happen()
        recent = (event for event in writer.recent(house.events) if event.kind in about)
        if question := next(filter(None, (ask(house, event) for event in recent)), None):
            writer.ask(*question)
            asked += 1


def where_is_thing(house: Household, event: Event) -> Question | None:
    """Ask for the room of a thing that somebody carries or has dropped."""
    last = house.dealings(event.what)[-1]
    got = last.kind == "get"
    ways = house.ways(last.person, after=last.line) if got else house.ways(last.person, before=last.line)
    return (f"Where is the {last.what}?", ways[-1].what, (last.line, ways[-1].line)) if ways else None


def where_was_thing(house: Household, event: Event) -> Question | None:
    """Ask for the room in which a thing was before somebody carried it to another."""
    dealings = house.dealings(event.what)
    last = dealings[-1]
    if last.kind == "get":
        ways = house.ways(last.person, after=last.line)
    else:
        ways = house.ways(last.person, after=dealings[-2].line, before=last.line)
    # If a room was visited twice, the question can only refer to the time before the second visit.
    steps = [
        (before, there)
        for number, (before, there) in enumerate(pairwise(ways), 2)
        if there.what not in {later.what for later in ways[number:]}
    ]
    if not steps:
        return None
    before, there = house.writer.pick(steps)
    supporting = (last.line, there.line, before.line)
    return f"Where was the {last.what} before the {there.what}?", before.what, supporting


def who_gave(house: Household, event: Event) -> Question:
    """Ask one of five questions about the last gift of a thing; half of those about people name the other person."""
    gift = [gift for gift in house.dealings(event.what) if gift.kind == "give"][-1]
    giver, thing, receiver = gift.person, gift.what, str(gift.to)
    between = [e for e in house.events if (e.person, e.kind, e.to) == (giver, "give", receiver)]
    roles = ["giver", "receiver"]
    if between[-1] == gift:  # a later one between the same two would be the answer
        roles.append("thing")
    role, long = house.writer.pick(roles), house.writer.pick((False, True))
    if role == "thing":
        text, answer = f"What did {giver} give to {receiver}?", thing
    elif role == "giver":
        text, answer = f"Who gave the {thing} to {receiver}?" if long else f"Who gave the {thing}?", giver
    else:
        text, answer = f"Who did {giver} give the {thing} to?" if long else f"Who received the {thing}?", receiver
    return text, answer, (gift.line,)


def is_person_there(house: Household, event: Event) -> Question:
    """Ask whether somebody is in a room."""
    last = house.ways(event.person)[-1]
    true = house.writer.pick((True, False))
    room = last.what if true else house.writer.other(ROOMS, last.what)
    return f"Is {last.person} in the {room}?", "yes" if true else "no", (last.line,)


def how_many(house: Household, event: Event) -> Question:
    """Ask how many things somebody carries."""
    person = event.person
    lines = [e.line for e in house.events if e.kind != "go" and person in (e.person, e.to)]
    number = sum(house.holder[thing] == person for thing in OBJECTS)
    return f"How many objects is {person} carrying?", NUMBERS[number], lines


def what_carried(house: Household, event: Event) -> Question:
    """Ask which things somebody carries."""
    person = event.person
    dealings = [e for e in house.events if e.kind != "go" and e.person == person]
    things = list(dict.fromkeys(e.what for e in dealings))  # in the order in which they were first got
    carried = [thing for thing in things if house.holder[thing] == person]
    lines = [e.line for thing in things for e in dealings if e.what == thing]
    return f"What is {person} carrying?", ",".join(carried) or "nothing", lines
