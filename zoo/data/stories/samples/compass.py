"""Tasks 4, 17 and 19: rooms north, south, east and west of each other, and shapes on a page."""

from __future__ import annotations

from zoo.data.stories.samples.telling import Telling
from zoo.data.stories.samples.words import ROOMS

STEPS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}

SHAPES = ("blue square", "pink rectangle", "red sphere", "red square", "triangle", "yellow square")
RELATIONS = {"north": "above", "south": "below", "east": "to the right of", "west": "to the left of"}

Links = dict[str, dict[str, str]]
"""For each room, the direction in which each of its neighbours lies."""


def two_arg_relations(telling: Telling) -> None:
    """Task 4: a room between two others, told by two statements; asked is one of the two, with its words or turned
    round."""
    end, middle, other = telling.some(ROOMS, 3)
    direction = telling.pick(tuple(STEPS))
    links: Links = {}
    _link(links, middle, direction, end)
    _link(links, middle, OPPOSITE[direction], other)
    told = _tell(telling, links)
    line, (subject, direction, place) = telling.pick(list(enumerate(told, 1)))
    if telling.pick((True, False)):
        text = f"What is {direction} of the {place}?"
    else:
        text = f"What is the {place} {OPPOSITE[direction]} of?"
    telling.ask(text, subject, (line,))


def path_finding(telling: Telling) -> None:
    """Task 19: a way of two steps, and a room beside it at three of the eight places next to its rooms. That two rooms
    may come to lie at one spot, by ways round a corner, is how the official stories are: 7 % of them."""
    start, middle, goal, *others = telling.some(ROOMS, 6)
    first = telling.pick(tuple(STEPS))
    second = telling.pick([direction for direction in STEPS if direction != OPPOSITE[first]])
    links: Links = {}
    _link(links, start, first, middle)
    _link(links, middle, second, goal)
    free = [(room, way) for room in (start, middle, goal) for way in STEPS if way not in links[room].values()]
    for other, (room, direction) in zip(others, telling.some(free, 3), strict=True):
        _link(links, room, direction, other)
    lines = {frozenset((a, b)): line for line, (a, _, b) in enumerate(_tell(telling, links), 1)}
    supporting = (lines[frozenset((start, middle))], lines[frozenset((middle, goal))])
    text = f"How do you go from the {start} to the {goal}?"
    telling.ask(text, f"{first[0]},{second[0]}", supporting)


def _link(links: Links, room: str, direction: str, neighbour: str) -> None:
    links.setdefault(room, {})[neighbour] = direction
    links.setdefault(neighbour, {})[room] = OPPOSITE[direction]


def _tell(telling: Telling, links: Links) -> list[tuple[str, str, str]]:
    """Tells every link once: any room, and of which of its neighbours it lies where."""
    told: dict[frozenset[str], tuple[str, str, str]] = {}
    while len(told) < sum(map(len, links.values())) // 2:
        room = telling.pick(list(links))
        neighbour = telling.pick(list(links[room]))
        if frozenset((room, neighbour)) not in told:
            direction = links[neighbour][room]
            telling.say(f"The {room} is {direction} of the {neighbour}.")
            told[frozenset((room, neighbour))] = (room, direction, neighbour)
    return list(told.values())


def positional_reasoning(telling: Telling) -> None:
    """Task 17: two shapes beside a third one; eight times, how the two lie to each other."""
    first, middle, second = telling.some(SHAPES, 3)
    ways = telling.some(tuple(STEPS), 2)
    spot = {middle: (0, 0)} | {shape: STEPS[way] for shape, way in zip((first, second), ways, strict=True)}
    for shape, way in zip((first, second), ways, strict=True):
        if telling.pick((True, True, False)):
            telling.say(f"The {middle} is {RELATIONS[OPPOSITE[way]]} the {shape}.")
        else:
            telling.say(f"The {shape} is {RELATIONS[way]} the {middle}.")
    for _ in range(8):
        a, b = telling.some((first, second), 2)
        apart = [x - y for x, y in zip(spot[a], spot[b], strict=True)]
        true = [way for way, step in STEPS.items() if sum(x * y for x, y in zip(apart, step, strict=True)) > 0]
        yes = telling.pick((True, False))
        way = telling.pick(true if yes else [way for way in STEPS if way not in true])
        supporting = (1, 2) if a == first else (2, 1)
        telling.ask(f"Is the {a} {RELATIONS[way]} the {b}?", "yes" if yes else "no", supporting)
