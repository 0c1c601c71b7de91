"""Tasks 9, 10 and 14: negation, indefinite knowledge, and events that are not in temporal order."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zoo.data.stories.samples.story_writer import GO, HOUSEHOLD, ROOMS, TIMES, TOWN, TOWNSFOLK, StoryWriter

QUESTIONS = 5
Places = tuple[str, ...]


class Statement(NamedTuple):
    """A statement about a person: at a place, at one of several places, or not at a place."""

    line: int
    person: str
    place: str
    """The place where the person is or is not."""
    denied: bool = False
    open: tuple[str, ...] = ()
    """The possible places of an indefinite statement."""


def simple_negation(writer: StoryWriter) -> None:
    """Task 9: half of the statements are moves, a quarter positions, and a quarter negated positions."""

    def denied(person: str, old: str, new: str) -> Statement:
        text = f"{person} is {writer.pick(('not', 'no longer'))} in the {old}."
        return Statement(writer.say(text), person, old, denied=True)

    for last in _told(writer, HOUSEHOLD, ROOMS, denied):
        true = writer.pick((True, False)) and not last.denied
        room = last.place if true or last.denied else _other(writer, ROOMS, last.place)
        writer.ask(f"Is {last.person} in the {room}?", "yes" if true else "no", (last.line,))


def indefinite_knowledge(writer: StoryWriter) -> None:
    """Task 10: half of the statements are moves, a quarter positions, and a quarter leave two places open."""

    def undecided(person: str, old: str, new: str) -> Statement:
        a, b = both = tuple(writer.some((new, _other(writer, TOWN, new)), 2))
        return Statement(writer.say(f"{person} is either in the {a} or the {b}."), person, new, open=both)

    for last in _told(writer, TOWNSFOLK, TOWN, undecided):
        asked = writer.pick((last.place, _other(writer, TOWN, last.place)))
        answer = "maybe" if asked in last.open else "yes" if asked == last.place else "no"
        writer.ask(f"Is {last.person} in the {asked}?", answer, (last.line,))


def _told(
    writer: StoryWriter, people: Places, places: Places, special: Callable[[str, str, str], Statement]
) -> Iterator[Statement]:
    """Tell two statements before each question. Yields the last statement about a person of a recent one."""
    place = {person: writer.pick(places) for person in people}
    statements: list[Statement] = []
    for _ in range(QUESTIONS):
        for _ in range(2):
            person = writer.pick(people)
            old, new = place[person], _other(writer, places, place[person])
            place[person] = new
            form = writer.pick(("goes", "goes", "is", "special"))
            if form == "special":
                statements.append(special(person, old, new))
            else:
                text = f"{person} {writer.pick(GO)} to the {new}." if form == "goes" else f"{person} is in the {new}."
                statements.append(Statement(writer.say(text), person, new))
        person = writer.recent(statements)[0].person
        yield next(last for last in reversed(statements) if last.person == person)


def _other(writer: StoryWriter, places: tuple[str, ...], than: str) -> str:
    return writer.pick([place for place in places if place != than])


class Visit(NamedTuple):
    """A person's visit to a place at a time of day."""

    person: str
    time: int
    place: str


def time_reasoning(writer: StoryWriter) -> None:
    """Task 14: people go through their day; the events between two questions are shuffled."""
    days: dict[str, list[Visit]] = {person: [] for person in TOWNSFOLK}
    visits: list[Visit] = []
    untold: list[Visit] = []
    lines: dict[Visit, int] = {}
    asked = 0
    while asked < QUESTIONS:
        for _ in range(2):
            person = writer.pick([person for person, day in days.items() if len(day) < len(TIMES)])
            day = days[person]
            place = _other(writer, TOWN, day[-1].place) if day else writer.pick(TOWN)
            day.append(Visit(person, len(day), place))
            untold.append(day[-1])
            visits.append(day[-1])
        for visit in writer.recent(visits):
            day = days[visit.person]
            # If a place was visited twice, the question can only refer to the time before the second visit.
            if visit.time and visit.place not in {later.place for later in day[visit.time + 1 :]}:
                for other in _moved(writer, untold):
                    lines[other] = writer.say(_visit(writer, other))
                untold.clear()
                before = day[visit.time - 1]
                text = f"Where was {visit.person} before the {visit.place}?"
                writer.ask(text, before.place, (lines[visit], lines[before]))
                asked += 1
                break


def _moved(writer: StoryWriter, visits: list[Visit]) -> list[Visit]:
    """The visits in an order without fixed points: one cycle through all, by Sattolo's algorithm."""
    visits = list(visits)
    for last in range(len(visits) - 1, 0, -1):
        other = writer.draw.randrange(last)
        visits[last], visits[other] = visits[other], visits[last]
    return visits


def _visit(writer: StoryWriter, visit: Visit) -> str:
    text, time = f"{visit.person} {writer.pick(GO)} to the {visit.place}", TIMES[visit.time]
    return writer.pick((f"{time.capitalize()} {text}.", f"{text} {time}."))
