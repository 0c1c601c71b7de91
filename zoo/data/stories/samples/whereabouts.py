"""Tasks 9, 10 and 14: what is denied, what is left open, and what is told in another order than it was."""

from __future__ import annotations

from typing import NamedTuple

from zoo.data.stories.samples.telling import Telling
from zoo.data.stories.samples.words import GO, HOUSEHOLD, ROOMS, TIMES, TOWN, TOWNSFOLK

QUESTIONS = 5


class Told(NamedTuple):
    """What a statement says of a person: the place, more than one where it leaves them open, or where he is not."""

    line: int
    person: str
    place: str
    """Where the person is, or where not."""
    denied: bool = False
    open: tuple[str, ...] = ()
    """The places between which it leaves the choice."""


def simple_negation(telling: Telling) -> None:
    """Task 9: half of the statements tell that somebody goes, a quarter where he is then, a quarter where he is not."""
    place = {person: telling.pick(ROOMS) for person in HOUSEHOLD}
    told: list[Told] = []
    for _ in range(QUESTIONS):
        for _ in range(2):
            person = telling.pick(HOUSEHOLD)
            old, new = place[person], _other(telling, ROOMS, place[person])
            place[person] = new
            form = telling.pick(("goes", "goes", "is", "is not"))
            if form == "goes":
                told.append(Told(telling.say(f"{person} {telling.pick(GO)} to the {new}."), person, new))
            elif form == "is":
                told.append(Told(telling.say(f"{person} is in the {new}."), person, new))
            else:
                text = f"{person} is {telling.pick(('not', 'no longer'))} in the {old}."
                told.append(Told(telling.say(text), person, old, denied=True))
        last = _recent(telling, told)
        true = telling.pick((True, False)) and not last.denied
        room = last.place if true or last.denied else _other(telling, ROOMS, last.place)
        telling.ask(f"Is {last.person} in the {room}?", "yes" if true else "no", (last.line,))


def indefinite_knowledge(telling: Telling) -> None:
    """Task 10: half of the statements tell that somebody goes, a quarter where he is then, a quarter leave it open
    between two places."""
    place = {person: telling.pick(TOWN) for person in TOWNSFOLK}
    told: list[Told] = []
    for _ in range(QUESTIONS):
        for _ in range(2):
            person = telling.pick(TOWNSFOLK)
            new = place[person] = _other(telling, TOWN, place[person])
            form = telling.pick(("goes", "goes", "is", "either"))
            if form == "goes":
                told.append(Told(telling.say(f"{person} {telling.pick(GO)} to the {new}."), person, new))
            elif form == "is":
                told.append(Told(telling.say(f"{person} is in the {new}."), person, new))
            else:
                a, b = both = tuple(telling.some((new, _other(telling, TOWN, new)), 2))
                line = telling.say(f"{person} is either in the {a} or the {b}.")
                told.append(Told(line, person, new, open=both))
        last = _recent(telling, told)
        asked = telling.pick((last.place, _other(telling, TOWN, last.place)))
        answer = "maybe" if asked in last.open else "yes" if asked == last.place else "no"
        telling.ask(f"Is {last.person} in the {asked}?", answer, (last.line,))


def _other(telling: Telling, places: tuple[str, ...], than: str) -> str:
    return telling.pick([place for place in places if place != than])


def _recent(telling: Telling, told: list[Told]) -> Told:
    """The last that was told of somebody of whom something was told just now."""
    person = telling.recent(told)[0].person
    return next(last for last in reversed(told) if last.person == person)


class Visit(NamedTuple):
    """That a person went to a place at one of the times of day."""

    person: str
    time: int
    place: str


def time_reasoning(telling: Telling) -> None:
    """Task 14: people go through their day, and what happened between two questions is told in another order."""
    days: dict[str, list[Visit]] = {person: [] for person in TOWNSFOLK}
    visits: list[Visit] = []
    untold: list[Visit] = []
    lines: dict[Visit, int] = {}
    asked = 0
    while asked < QUESTIONS:
        for _ in range(2):
            day = days[telling.pick([person for person in TOWNSFOLK if len(days[person]) < len(TIMES)])]
            person = next(person for person in TOWNSFOLK if days[person] is day)
            place = _other(telling, TOWN, day[-1].place) if day else telling.pick(TOWN)
            day.append(Visit(person, len(day), place))
            untold.append(day[-1])
            visits.append(day[-1])
        for visit in telling.recent(visits):
            day = days[visit.person]
            # Of a place that was visited twice, only what was before the second time can be meant.
            if visit.time and visit.place not in {later.place for later in day[visit.time + 1 :]}:
                for other in _moved(telling, untold):
                    lines[other] = telling.say(_visit(telling, other))
                untold.clear()
                before = day[visit.time - 1]
                text = f"Where was {visit.person} before the {visit.place}?"
                telling.ask(text, before.place, (lines[visit], lines[before]))
                asked += 1
                break


def _moved(telling: Telling, visits: list[Visit]) -> list[Visit]:
    """The visits in an order in which none has its place: one cycle through all of them, by Sattolo's algorithm."""
    visits = list(visits)
    for last in range(len(visits) - 1, 0, -1):
        other = telling.draw.randrange(last)
        visits[last], visits[other] = visits[other], visits[last]
    return visits


def _visit(telling: Telling, visit: Visit) -> str:
    text, time = f"{visit.person} {telling.pick(GO)} to the {visit.place}", TIMES[visit.time]
    return telling.pick((f"{time.capitalize()} {text}.", f"{text} {time}."))
