"""The embedded sample: clips of coloured shapes with three captions. Two shapes do something, first one, then another.

A shape grows, moves, turns or vanishes during a few frames, and is again as it was before. The first frame shows no
event, and the set of all frames is the same in whatever order the events happen: neither the first frame nor a mean of
frames can tell the order, which every caption states.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]

SIDE = 32
"""Pixels per side; all lengths below are for this side."""
FRAMES = (7, 9)  # Fewest and most frames of a clip
LASTS = (1, 2)  # Fewest and most frames of an event, without the one in which the shape is as before
PAINT = {
    "red": (214, 40, 44),
    "yellow": (240, 224, 48),
    "green": (44, 164, 72),
    "blue": (44, 84, 214),
    "white": (236, 236, 236),
}
SHAPES = ("circle", "cross", "bar")
ACTIONS = ("grows", "moves", "turns", "vanishes")
RADIUS = (5.0, 6.0)
GROWTH, STEP, ANGLE = 0.8, 6.0, 0.9
"""The largest change of an event: the added share of a radius, the pixels of a move, the radians of a turn."""
JITTER = 1.0  # Pixels between the centre of a shape and that of its quarter of the frame, in each direction
GREYS, GRAIN = (20, 90), 5.0  # The darkest and the lightest ground, and the deviation of its pixels
FORMS = (
    "{} then {}",
    "first {} and then {}",
    "{} before {}",
    "{} and afterwards {}",
    "after {} {}",
)
"""Each form names the events in their order."""
CAPTIONS = 3


class Event(NamedTuple):
    """A shape does something in the frames from `first` on, and is as before again in the frame `last`. Both are
    changes that a network sees."""

    colour: str
    shape: str
    action: str
    first: int
    last: int

    @property
    def clause(self) -> str:
        """The event in words."""
        return f"the {self.colour} {self.shape} {self.action}"


class Clip(NamedTuple):
    """The frames of a clip and the facts about it."""

    frames: NDArray[np.uint8]  # (F, H, W, 3)
    events: tuple[Event, Event]  # In their order
    captions: list[str]

    @property
    def facts(self) -> dict[str, Any]:
        """The facts in the form that `zoo.data.clips.truth` reads."""
        return {"events": [event._asdict() for event in self.events]}


def generate(count: int, *, seed: int) -> Iterator[Clip]:
    """`count` clips; clip i depends on `seed` and i alone."""
    return (clip(np.random.default_rng((seed, number))) for number in range(count))


def clip(random: np.random.Generator) -> Clip:
    """A clip of two shapes."""
    length = int(random.integers(FRAMES[0], FRAMES[1] + 1))
    kinds = random.choice(len(PAINT) * len(SHAPES), 2, replace=False).tolist()
    names = [(list(PAINT)[kind // len(SHAPES)], SHAPES[kind % len(SHAPES)]) for kind in kinds]
    events = []
    for (first, last), (colour, shape) in zip(_times(random, length), names, strict=True):
        possible = [action for action in ACTIONS if shape != "circle" or action != "turns"]  # which nobody would see
        events.append(Event(colour, shape, possible[random.integers(len(possible))], first, last))
    frames = _painted(random, length, events)
    forms = random.permutation(len(FORMS))[:CAPTIONS].tolist()
    one, other = events
    return Clip(frames, (one, other), [FORMS[form].format(one.clause, other.clause) for form in forms])


def _times(random: np.random.Generator, length: int) -> list[tuple[int, int]]:
    """`first` and `last` of two events, in sequence."""
    lasts = random.integers(LASTS[0], LASTS[1] + 1, 2).tolist()
    free = length - sum(lasts) - 3
    before, until = sorted(random.integers(0, free + 1, 2).tolist())
    begin = 1 + before
    second = begin + lasts[0] + 1 + (until - before)
    return [(begin, begin + lasts[0]), (second, second + lasts[1])]


def _painted(random: np.random.Generator, length: int, events: list[Event]) -> NDArray[np.uint8]:
    pixels = random.uniform(*GREYS) + GRAIN * random.standard_normal((SIDE, SIDE, 1), np.float32)
    frames = np.broadcast_to(pixels.astype(np.float32), (length, SIDE, SIDE, 3)).copy()
    quarters = random.permutation(4).tolist()
    covers = {}
    for event, quarter in zip(events, quarters, strict=False):
        centre = (np.array(divmod(quarter, 2)) + 0.5) * SIDE / 2 + random.uniform(-JITTER, JITTER, 2)
        radius, angle = random.uniform(*RADIUS), random.uniform(-0.3, 0.3)
        way = random.uniform(0, 2 * np.pi)
        steps = event.last - event.first
        share = np.sin(np.pi * np.arange(steps + 1) / (steps + 1))  # first the still shape
        change = {name: share * (name == event.action) for name in ACTIONS}
        cover = _cover(
            event.shape,
            centre + STEP * change["moves"][:, None] * np.array([np.sin(way), np.cos(way)]),
            radius * (1 + GROWTH * change["grows"]),
            angle + ANGLE * change["turns"],
        )
        cover *= (change["vanishes"] == 0)[:, None, None]
        whole = cover[np.zeros(length, int)]
        whole[event.first : event.last] = cover[1:]
        covers[quarter] = event.colour, whole
    for _, (colour, cover) in sorted(covers.items()):  # not in the order of events, which an overlap would show
        frames += cover[..., None] * (np.array(PAINT[colour], np.float32) - frames)
    return np.clip(frames + 0.5, 0, 255).astype(np.uint8)


def _cover(shape: str, centres: NDArray[Any], radii: NDArray[Any], angles: NDArray[Any]) -> Numbers:
    """(F, SIDE, SIDE) the share of each pixel that a shape covers: centres (F, 2) as y and x, radii (F,), angles
    (F,)."""
    at = np.arange(SIDE, dtype=np.float32) + 0.5
    y = (at[None, :, None] - centres[:, 0, None, None]) / radii[:, None, None]
    x = (at[None, None, :] - centres[:, 1, None, None]) / radii[:, None, None]
    sine, cosine = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    u, v = cosine * x + sine * y, cosine * y - sine * x
    return np.clip(0.5 - radii[:, None, None] * DISTANCE[shape](u, v), 0, 1).astype(np.float32)


def _cross(u: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    u, v = np.abs(u), np.abs(v)
    return np.minimum(np.maximum(u - 0.3, v - 1), np.maximum(u - 1, v - 0.3))


DISTANCE: Mapping[str, Any] = {
    "circle": lambda u, v: np.hypot(u, v) - 0.95,
    "cross": _cross,
    "bar": lambda u, v: np.maximum(np.abs(u) - 1.1, np.abs(v) - 0.4),
}
"""The distance of points to each shape of radius 1 around (0, 0), negative inside."""
