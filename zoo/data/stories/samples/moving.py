"""Tasks 1 and 9 to 14: people go from place to place, alone or in pairs, by name or by pronoun. Some statements are
negated, indefinite, or not in temporal order."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zoo.data.stories.samples.story_writer import GO, HE, HOUSEHOLD, ROOMS, THEN, TIMES, TOWN, TOWNSFOLK, StoryWriter

QUESTIONS = 5
Places = tuple[str, ...]


class Statement(NamedTuple):
    """A statement about a person: at a place, at one of several places, or not at a place."""

    person: str
    place: str
    """The place where the person is or is not."""
    lines: tuple[int, ...]
    """Supporting lines: the statement itself, and before it the line that resolves a pronoun."""
    denied: bool = False
    open: tuple[str, ...] = ()
    """The possible places of an indefinite statement."""


def _last(writer: StoryWriter, statements: list[Statement]) -> Statement:
    """The last statement about the person of a recent one."""
    person = writer.recent(statements)[0].person
    return next(last for last in reversed(statements) if last.person == person)


def arrivals(writer: StoryWriter, *, pairs: bool = False, pronouns: bool = False) -> None:
    """Tasks 1 and 11 to 13: two moves of one person, or of a pair, before each question. With `pronouns`, both moves
    are of the same people, and the second statement calls them "he", "she" or "they"."""
    made: list[Statement] = []

    def draw() -> list[str]:
        return writer.some(HOUSEHOLD, 2) if pairs else [writer.pick(HOUSEHOLD)]

    def go(people: list[str], pronoun: str = "") -> None:
        there = {arrival.person: arrival.place for arrival in made}
        place = writer.other(ROOMS, *(there.get(person) for person in people))
        subject = f"{writer.pick(THEN)} {pronoun}" if pronoun else " and ".join(people)
        line = writer.say(f"{subject} {writer.pick(GO)} to the {place}.")
        made.extend(Statement(person, place, (line - 1, line) if pronoun else (line,)) for person in people)

    for _ in range(QUESTIONS):
        people = draw()
        go(people)
        if pronouns:
            go(people, "they" if pairs else "he" if people[0] in HE else "she")
        else:
            go(draw())
        last = _last(writer, made)
        writer.ask(f"Where is {last.person}?", last.place, last.lines)


def simple_negation(writer: StoryWriter) -> None:
    """Task 9: half of the statements are moves, a quarter positions, and a quarter negated positions."""

    def denied(person: str, old: str, new: str) -> Statement:
        text = f"{person} is {writer.pick(('not', 'no longer'))} in the {old}."
        return Statement(person, old, (writer.say(text),), denied=True)

    for last in _stated(writer, HOUSEHOLD, ROOMS, denied):
        true = writer.pick((True, False)) and not last.denied
        room = last.place if true or last.denied else writer.other(ROOMS, last.place)
        writer.ask(f"Is {last.person} in the {room}?", "yes" if true else "no", last.lines)


def indefinite_knowledge(writer: StoryWriter) -> None:
    """Task 10: half of the statements are moves, a quarter positions, and a quarter leave two places open."""

    def undecided(person: str, old: str, new: str) -> Statement:
        a, b = both = tuple(writer.some((new, writer.other(TOWN, new)), 2))
        return Statement(person, new, (writer.say(f"{person} is either in the {a} or the {b}."),), open=both)

    for last in _stated(writer, TOWNSFOLK, TOWN, undecided):
        asked = writer.pick((last.place, writer.other(TOWN, last.place)))
        answer = "maybe" if asked in last.open else "yes" if asked == last.place else "no"
        writer.ask(f"Is {last.person} in the {asked}?", answer, last.lines)


def _stated(
    writer: StoryWriter, people: Places, places: Places, special: Callable[[str, str, str], Statement]
) -> Iterator[Statement]:
    """Make two statements before each question. Yields the one that the question is about."""
    place = {person: writer.pick(places) for person in people}
    statements: list[Statement] = []
    for _ in range(QUESTIONS):
        for _ in range(2):
            person = writer.pick(people)
            old, new = place[person], writer.other(places, place[person])
            place[person] = new
            form = writer.pick(("goes", "goes", "is", "special"))
            if form == "special":
                statements.append(special(person, old, new))
            else:
                text = f"{person} {writer.pick(GO)} to the {new}." if form == "goes" else f"{person} is in the {new}."
                statements.append(Statement(person, new, (writer.say(text),)))
        yield _last(writer, statements)


class Visit(NamedTuple):
    """A person's visit to a place at a time of day."""

    person: str
    time: int
    place: str


def time_reasoning(writer: StoryWriter) -> None:
    """Task 14: people go through their day; the events between two questions are shuffled."""
    days: dict[str, list[Visit]] = {person: [] for person in TOWNSFOLK}
    visits: list[Visit] = []
    lines: dict[Visit, int] = {}
    asked = 0
    while asked < QUESTIONS:
        for _ in range(2):
            person = writer.pick([person for person, day in days.items() if len(day) < len(TIMES)])
            day = days[person]
            place = writer.other(TOWN, day[-1].place) if day else writer.pick(TOWN)
            day.append(Visit(person, len(day), place))
            visits.append(day[-1])
        for visit in writer.recent(visits):
            day = days[visit.person]
            # If a place was visited twice, the question can only refer to the time before the second visit.
            if visit.time and visit.place not in {later.place for later in day[visit.time + 1 :]}:
                _state(writer, visits, lines)
                before = day[visit.time - 1]
                text = f"Where was {visit.person} before the {visit.place}?"
                writer.ask(text, before.place, (lines[visit], lines[before]))
                asked += 1
                break


def _state(writer: StoryWriter, visits: list[Visit], lines: dict[Visit, int]) -> None:
    """State the visits without a line, shuffled by Sattolo's algorithm, so that none keeps its place."""
    new = [visit for visit in visits if visit not in lines]
    for last in range(len(new) - 1, 0, -1):
        other = writer.draw.randrange(last)
        new[last], new[other] = new[other], new[last]
    for visit in new:
        text, time = f"{visit.person} {writer.pick(GO)} to the {visit.place}", TIMES[visit.time]
        lines[visit] = writer.say(writer.pick((f"{time.capitalize()} {text}.", f"{text} {time}.")))
