"""The embedded sample: pictures of coloured shapes on a textured ground, each with five captions.

The content of the captions can be seen: the first object is the most central one, the second is the next, each by a
clear margin, and one of the four relations clearly holds between them. No two objects of a picture have the same colour
and shape, and their boxes do not overlap.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.data.images.samples.drawing import EXTENT, PAINT, SPREAD, Numbers, grounds, paint_on
from zoo.data.images.samples.grammar import COLOURS, FORMS, SHAPES, Kind, Statement, phrased, relation

OBJECTS = (2, 5)  # Fewest and most objects of a scene
LARGE = 3  # Most large objects of a scene; with more, hardly any placement is clear
RADII = {"small": (5.0, 5.8), "large": (8.2, 9.2)}
"""Radii of the shapes, in a picture of 64 pixels, as all lengths below."""
SIDE = 64
CENTRALITY = 5.0
"""Least difference in the distance to the centre between the first and the second object, and the second and others."""
CLEARLY = 8.0  # Least difference between the two axes in the distance of two objects
GAP = 2.0  # Least gap between the boxes of two objects, and between a box and the rim
TRIES = {2: 16, 3: 64, 4: 256, 5: 512}
"""Number of objects -> placements that are drawn at once; with more objects, fewer of them can be used."""
CAPTIONS = 5
AT_ONCE = 100  # Number of scenes that are painted together


class Thing(NamedTuple):
    """One object of a scene; lengths in pixels of a picture of SIDE."""

    kind: Kind
    place: tuple[float, float]  # x and y of its centre
    radius: float
    colour: tuple[float, float, float]

    @property
    def centre(self) -> list[float]:
        """x and y, in shares of the picture, rounded so that they equal their stored form."""
        return [round(at / SIDE, 4) for at in self.place]

    @property
    def box(self) -> list[float]:
        """Left, top, right and bottom, as in `centre`."""
        edges = zip(self.place * 2, EXTENT[self.kind.shape], strict=True)
        return [round((at + self.radius * edge) / SIDE, 4) for at, edge in edges]


class Scene(NamedTuple):
    """A picture and the facts about it."""

    pixels: NDArray[np.uint8]  # (H, W, 3)
    things: list[Thing]  # Its objects, the most central first; captions describe the first two
    captions: list[str]

    @property
    def facts(self) -> dict[str, Any]:
        """The facts in the form that `zoo.data.images.truth` reads."""
        return {"objects": [{**one.kind._asdict(), "centre": one.centre, "box": one.box} for one in self.things]}


def generate(count: int, *, seed: int, size: int = SIDE) -> Iterator[Scene]:
    """`count` scenes of `size` by `size` pixels; scene i depends on `seed` and i alone, its content not on the size."""
    for start in range(0, count, AT_ONCE):
        yield from scenes(range(start, min(count, start + AT_ONCE)), seed=seed, size=size)


def scenes(numbers: range, *, seed: int, size: int = SIDE) -> list[Scene]:
    """The scenes with the given numbers."""
    random = [np.random.default_rng((seed, number)) for number in numbers]
    things = [_things(r) for r in random]
    captions = [_captions(r, *some[:2]) for r, some in zip(random, things, strict=True)]
    return list(map(Scene, _painted(random, things, size), things, captions))


def _things(random: np.random.Generator) -> list[Thing]:
    count = int(random.integers(OBJECTS[0], OBJECTS[1] + 1))
    pairs = random.choice(len(COLOURS) * len(SHAPES), count, replace=False).tolist()
    large = random.permutation(count)[:LARGE]
    large = large[random.random(len(large)) < 0.5]
    kinds = [
        Kind("large" if number in large else "small", COLOURS[pair // len(SHAPES)], SHAPES[pair % len(SHAPES)])
        for number, pair in enumerate(pairs)
    ]
    radii = np.array([random.uniform(*RADII[str(kind.size)]) for kind in kinds], np.float32)
    paint = np.array([PAINT[kind.colour] for kind in kinds], np.float32)
    colours = paint + random.uniform(-SPREAD, SPREAD, paint.shape).astype(np.float32)
    centres, turn = _places(random, radii[:, None] * np.array([EXTENT[kind.shape] for kind in kinds], np.float32))
    parts = zip(centres.tolist(), radii[turn].tolist(), colours[turn].tolist(), strict=True)
    return [Thing(kinds[number], tuple(place), *more) for number, (place, *more) in zip(turn, parts, strict=True)]


def _places(random: np.random.Generator, extent: Numbers) -> tuple[Numbers, NDArray[np.int64]]:
    """Centres (n, 2) of objects with boxes of `extent` (n, 4), the most central first, and the number of each.

    The placement satisfies the margins above, so that captions are unambiguous.
    """
    low, high = GAP - extent[:, :2], SIDE - GAP - extent[:, 2:]
    one, other = np.triu_indices(len(extent), 1)
    behind = GAP + extent[one, 2:] - extent[other, :2]  # the offset at which one begins where the other ends
    before = GAP + extent[other, 2:] - extent[one, :2]
    while True:
        centres = random.random((TRIES[len(extent)], len(extent), 2), np.float32) * (high - low) + low
        off = np.hypot(centres[..., 0] - SIDE / 2, centres[..., 1] - SIDE / 2)
        turn = off.argsort(1)
        rows = np.arange(len(off))
        nearest = off[rows[:, None], turn[:, :3]]
        central = (nearest[:, 1:] - nearest[:, :-1] >= CENTRALITY).all(1)
        between = np.abs(centres[rows, turn[:, 0]] - centres[rows, turn[:, 1]])
        clear = np.abs(between[:, 0] - between[:, 1]) >= CLEARLY
        good = np.flatnonzero(central & clear)
        away = centres[good][:, other] - centres[good][:, one]
        free = np.asarray(((away >= behind) | (-away >= before)).any(2))
        good = good[free.all(1)]
        if len(good):
            return centres[good[0], turn[good[0]]], turn[good[0]]


def _captions(random: np.random.Generator, first: Thing, second: Thing) -> list[str]:
    """One sentence in each of several forms; one of them does not mention sizes."""
    said = Statement(first.kind, relation(first.place, second.place), second.kind)
    without_sizes = said._replace(first=said.first._replace(size=None), second=said.second._replace(size=None))
    forms = random.permutation(len(FORMS))[:CAPTIONS].tolist()
    found = [phrased(FORMS[form], said if number else without_sizes) for number, form in enumerate(forms)]
    return [found[number] for number in random.permutation(CAPTIONS).tolist()]


def _painted(random: list[np.random.Generator], things: list[list[Thing]], size: int) -> NDArray[np.uint8]:
    """(I, size, size, 3) pictures of the objects."""
    pixels, scale = grounds(random, size), np.float32(size / SIDE)
    picture = np.repeat(np.arange(len(things)), [len(some) for some in things])
    kinds, *numbers = zip(*chain.from_iterable(things), strict=True)
    centres, radii, colours = (np.array(part, np.float32) for part in numbers)
    shapes = np.array([kind.shape for kind in kinds])
    for shape in SHAPES:
        of = np.flatnonzero(shapes == shape)
        if len(of):
            paint_on(pixels, picture[of], shape, centres[of] * scale, radii[of] * scale, colours[of])
    return np.clip(pixels + np.float32(0.5), 0, 255).astype(np.uint8)
