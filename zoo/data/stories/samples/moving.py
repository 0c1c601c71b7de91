"""Tasks 1, 11, 12 and 13: people go from room to room, alone or in pairs, by name or by pronoun."""

from __future__ import annotations

from typing import NamedTuple

from zoo.data.stories.samples.telling import Telling
from zoo.data.stories.samples.words import GO, HE, HOUSEHOLD, ROOMS, THEN

QUESTIONS = 5


class Arrival(NamedTuple):
    """One person's coming to a room: what a statement says of each that it names."""

    person: str
    place: str
    lines: tuple[int, ...]
    """What tells it: the line itself, before it the one that says who a pronoun is."""


def single_supporting_fact(telling: Telling) -> None:
    """Task 1: one goes at a time."""
    arrivals: list[Arrival] = []
    for _ in range(QUESTIONS):
        for _ in range(2):
            _go(telling, arrivals, [telling.pick(HOUSEHOLD)])
        _ask(telling, arrivals)


def conjunction(telling: Telling) -> None:
    """Task 12: two go together."""
    arrivals: list[Arrival] = []
    for _ in range(QUESTIONS):
        for _ in range(2):
            _go(telling, arrivals, telling.some(HOUSEHOLD, 2))
        _ask(telling, arrivals)


def basic_coreference(telling: Telling) -> None:
    """Task 11: one goes, then he or she goes on."""
    arrivals: list[Arrival] = []
    for _ in range(QUESTIONS):
        person = telling.pick(HOUSEHOLD)
        _go(telling, arrivals, [person])
        _go_on(telling, arrivals, [person], "he" if person in HE else "she")
        _ask(telling, arrivals)


def compound_coreference(telling: Telling) -> None:
    """Task 13: two go together, then they go on."""
    arrivals: list[Arrival] = []
    for _ in range(QUESTIONS):
        people = telling.some(HOUSEHOLD, 2)
        _go(telling, arrivals, people)
        _go_on(telling, arrivals, people, "they")
        _ask(telling, arrivals)


def _go(telling: Telling, arrivals: list[Arrival], people: list[str]) -> None:
    place = _elsewhere(telling, arrivals, people)
    line = telling.say(f"{' and '.join(people)} {telling.pick(GO)} to the {place}.")
    arrivals += [Arrival(person, place, (line,)) for person in people]


def _go_on(telling: Telling, arrivals: list[Arrival], people: list[str], pronoun: str) -> None:
    place = _elsewhere(telling, arrivals, people)
    line = telling.say(f"{telling.pick(THEN)} {pronoun} {telling.pick(GO)} to the {place}.")
    arrivals += [Arrival(person, place, (line - 1, line)) for person in people]


def _elsewhere(telling: Telling, arrivals: list[Arrival], people: list[str]) -> str:
    """A room where none of them is."""
    there = {arrival.person: arrival.place for arrival in arrivals}
    return telling.pick([room for room in ROOMS if room not in {there.get(person) for person in people}])


def _ask(telling: Telling, arrivals: list[Arrival]) -> None:
    person = telling.recent(arrivals)[0].person
    last = next(arrival for arrival in reversed(arrivals) if arrival.person == person)
    telling.ask(f"Where is {person}?", last.place, last.lines)
