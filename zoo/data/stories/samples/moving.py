"""Tasks 1, 11, 12 and 13: people go from room to room, alone or in pairs, by name or by pronoun."""

from collections.abc import Callable
from typing import NamedTuple

from zoo.data.stories.samples.story_writer import GO, HE, HOUSEHOLD, ROOMS, THEN, StoryWriter

QUESTIONS = 5
Draw = Callable[[], list[str]]


class Arrival(NamedTuple):
    """The arrival of one person in a room, as a statement reports it."""

    person: str
    place: str
    lines: tuple[int, ...]
    """Supporting lines: the statement itself, and before it the line that resolves a pronoun."""


def single_supporting_fact(writer: StoryWriter) -> None:
    """Task 1: one person moves at a time."""
    _tell(writer, lambda: [writer.pick(HOUSEHOLD)])


def conjunction(writer: StoryWriter) -> None:
    """Task 12: two people move together."""
    _tell(writer, lambda: writer.some(HOUSEHOLD, 2))


def basic_coreference(writer: StoryWriter) -> None:
    """Task 11: a person moves, then moves on as "he" or "she"."""
    _tell(writer, lambda: [writer.pick(HOUSEHOLD)], lambda people: "he" if people[0] in HE else "she")


def compound_coreference(writer: StoryWriter) -> None:
    """Task 13: two people move together, then move on as "they"."""
    _tell(writer, lambda: writer.some(HOUSEHOLD, 2), lambda people: "they")


def _tell(writer: StoryWriter, draw: Draw, pronoun: Callable[[list[str]], str] | None = None) -> None:
    """State two moves of random people before each question. With `pronoun`, the same people make both moves."""
    arrivals: list[Arrival] = []
    for _ in range(QUESTIONS):
        people = draw()
        _go(writer, arrivals, people)
        if pronoun is None:
            _go(writer, arrivals, draw())
        else:
            _go_on(writer, arrivals, people, pronoun(people))
        _ask(writer, arrivals)


def _go(writer: StoryWriter, arrivals: list[Arrival], people: list[str]) -> None:
    place = _elsewhere(writer, arrivals, people)
    line = writer.say(f"{' and '.join(people)} {writer.pick(GO)} to the {place}.")
    arrivals += [Arrival(person, place, (line,)) for person in people]


def _go_on(writer: StoryWriter, arrivals: list[Arrival], people: list[str], pronoun: str) -> None:
    place = _elsewhere(writer, arrivals, people)
    line = writer.say(f"{writer.pick(THEN)} {pronoun} {writer.pick(GO)} to the {place}.")
    arrivals += [Arrival(person, place, (line - 1, line)) for person in people]


def _elsewhere(writer: StoryWriter, arrivals: list[Arrival], people: list[str]) -> str:
    """Draw a room in which none of the people is."""
    there = {arrival.person: arrival.place for arrival in arrivals}
    return writer.pick([room for room in ROOMS if room not in {there.get(person) for person in people}])


def _ask(writer: StoryWriter, arrivals: list[Arrival]) -> None:
    person = writer.recent(arrivals)[0].person
    last = next(arrival for arrival in reversed(arrivals) if arrival.person == person)
    writer.ask(f"Where is {person}?", last.place, last.lines)
