"""Tasks 4, 17 and 19: rooms north, south, east and west of each other, and shapes on a page."""

from zoo.data.stories.samples.story_writer import ROOMS, StoryWriter

STEPS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}

SHAPES = ("blue square", "pink rectangle", "red sphere", "red square", "triangle", "yellow square")
RELATIONS = {"north": "above", "south": "below", "east": "to the right of", "west": "to the left of"}

Links = dict[str, dict[str, str]]
"""For each room, the direction in which each of its neighbours lies."""


def two_arg_relations(writer: StoryWriter) -> None:
    """Task 4: two statements give the position of a room between two others.

    The question repeats one of the statements, or its inverse.
    """
    end, middle, other = writer.some(ROOMS, 3)
    direction = writer.pick(tuple(STEPS))
    links: Links = {}
    _link(links, middle, direction, end)
    _link(links, middle, OPPOSITE[direction], other)
    told = _tell(writer, links)
    line, (subject, direction, place) = writer.pick(list(enumerate(told, 1)))
    if writer.pick((True, False)):
        text = f"What is {direction} of the {place}?"
    else:
        text = f"What is the {place} {OPPOSITE[direction]} of?"
    writer.ask(text, subject, (line,))


def path_finding(writer: StoryWriter) -> None:
    """Task 19: a path of two steps, and rooms at three of the eight places next to its rooms.

    Two rooms may lie at the same position if a path turns a corner, as in 7 % of the official stories.
    """
    start, middle, goal, *others = writer.some(ROOMS, 6)
    first = writer.pick(tuple(STEPS))
    second = writer.other(STEPS, OPPOSITE[first])
    links: Links = {}
    _link(links, start, first, middle)
    _link(links, middle, second, goal)
    free = [(room, way) for room in (start, middle, goal) for way in STEPS if way not in links[room].values()]
    for other, (room, direction) in zip(others, writer.some(free, 3), strict=True):
        _link(links, room, direction, other)
    lines = {frozenset((a, b)): line for line, (a, _, b) in enumerate(_tell(writer, links), 1)}
    supporting = (lines[frozenset((start, middle))], lines[frozenset((middle, goal))])
    text = f"How do you go from the {start} to the {goal}?"
    writer.ask(text, f"{first[0]},{second[0]}", supporting)


def _link(links: Links, room: str, direction: str, neighbour: str) -> None:
    links.setdefault(room, {})[neighbour] = direction
    links.setdefault(neighbour, {})[room] = OPPOSITE[direction]


def _tell(writer: StoryWriter, links: Links) -> list[tuple[str, str, str]]:
    """State every link once, in random order: a room, a direction and its neighbour."""
    told: dict[frozenset[str], tuple[str, str, str]] = {}
    while len(told) < sum(map(len, links.values())) // 2:
        room = writer.pick(list(links))
        neighbour = writer.pick(list(links[room]))
        if frozenset((room, neighbour)) not in told:
            direction = links[neighbour][room]
            writer.say(f"The {room} is {direction} of the {neighbour}.")
            told[frozenset((room, neighbour))] = (room, direction, neighbour)
    return list(told.values())


def positional_reasoning(writer: StoryWriter) -> None:
    """Task 17: two shapes next to a third one, and eight questions about their relative position."""
    first, middle, second = writer.some(SHAPES, 3)
    ways = writer.some(tuple(STEPS), 2)
    spot = {middle: (0, 0)} | {shape: STEPS[way] for shape, way in zip((first, second), ways, strict=True)}
    for shape, way in zip((first, second), ways, strict=True):
        if writer.pick((True, True, False)):
            writer.say(f"The {middle} is {RELATIONS[OPPOSITE[way]]} the {shape}.")
        else:
            writer.say(f"The {shape} is {RELATIONS[way]} the {middle}.")
    for _ in range(8):
        a, b = writer.some((first, second), 2)
        apart = [x - y for x, y in zip(spot[a], spot[b], strict=True)]
        true = [way for way, step in STEPS.items() if sum(x * y for x, y in zip(apart, step, strict=True)) > 0]
        yes = writer.pick((True, False))
        way = writer.pick(true) if yes else writer.other(STEPS, *true)
        supporting = (1, 2) if a == first else (2, 1)
        writer.ask(f"Is the {a} {RELATIONS[way]} the {b}?", "yes" if yes else "no", supporting)
