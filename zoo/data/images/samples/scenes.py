"""The embedded sample: pictures of coloured shapes on a textured ground, each with five captions.

The content of the captions can be seen: the first object is the most central one, the second is the next, each by a
clear margin, and one of the four relations clearly holds between them. No two objects of a picture have the same colour
and shape, and their boxes do not overlap.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.data.images.row import Box
from zoo.data.images.samples.drawing import EXTENT, PAINT, SPREAD, Numbers, grounds, paint_on
from zoo.data.images.samples.grammar import COLOURS, FORMS, SHAPES, Kind, Statement, phrased, relation

OBJECTS = (2, 5)
"""Fewest and most objects of a scene."""
LARGE = 3
"""Most large objects of a scene; with more, hardly any placement is clear."""
RADII = {"small": (5.0, 5.8), "large": (8.2, 9.2)}
"""Radii of the shapes, in a picture of 64 pixels, as all lengths below."""
SIDE = 64
CENTRALITY = 5.0
"""Least difference in the distance to the centre between the first and the second object, and the second and others."""
CLEARLY = 8.0
"""Least difference between the two axes in the distance of two objects."""
GAP = 2.0
"""Least gap between the boxes of two objects, and between a box and the rim."""
TRIES = {2: 16, 3: 64, 4: 256, 5: 512}
"""Number of objects -> placements that are drawn at once; with more objects, fewer of them can be used."""
CAPTIONS = 5
AT_ONCE = 100
"""Number of scenes that are painted together."""


class Thing(NamedTuple):
    """One object of a scene."""

    kind: Kind
    centre: tuple[float, float]
    """x and y, in shares of the picture."""
    box: Box


class Scene(NamedTuple):
    """A picture and the facts about it."""

    pixels: NDArray[np.uint8]
    """(H, W, 3)."""
    things: list[Thing]
    """Its objects, the most central first; captions describe the first two."""
    captions: list[str]

    @property
    def facts(self) -> dict[str, Any]:
        """The facts in the form that `zoo.data.images.truth` reads."""
        return {
            "objects": [
                {**thing.kind._asdict(), "centre": list(thing.centre), "box": list(thing.box)} for thing in self.things
            ]
        }


class Layout(NamedTuple):
    """Positions of the objects of a scene, the most central first; lengths in pixels of a picture of SIDE."""

    kinds: list[Kind]
    centres: Numbers
    """(n, 2)."""
    radii: Numbers
    """(n,)."""
    colours: Numbers
    """(n, 3)."""


def generate(count: int, *, seed: int, size: int = SIDE) -> Iterator[Scene]:
    """`count` scenes of `size` by `size` pixels; scene i depends on `seed` and i alone, its content not on the size."""
    for start in range(0, count, AT_ONCE):
        yield from scenes(range(start, min(count, start + AT_ONCE)), seed=seed, size=size)


def scenes(numbers: range, *, seed: int, size: int = SIDE) -> list[Scene]:
    """The scenes with the given numbers."""
    random = [np.random.default_rng((seed, number)) for number in numbers]
    layouts = [_layout(r) for r in random]
    captions = [_captions(r, layout) for r, layout in zip(random, layouts, strict=True)]
    pixels = _painted(random, layouts, size)
    return [
        Scene(picture, _things(layout), five) for picture, layout, five in zip(pixels, layouts, captions, strict=True)
    ]


def _layout(random: np.random.Generator) -> Layout:
    count = int(random.integers(OBJECTS[0], OBJECTS[1] + 1))
    pairs = random.choice(len(COLOURS) * len(SHAPES), count, replace=False).tolist()
    large = random.permutation(count)[:LARGE]
    large = large[random.random(len(large)) < 0.5]
    sizes = ["large" if number in large else "small" for number in range(count)]
    kinds = [
        Kind(size, COLOURS[pair // len(SHAPES)], SHAPES[pair % len(SHAPES)])
        for size, pair in zip(sizes, pairs, strict=True)
    ]
    radii = np.array([random.uniform(*RADII[size]) for size in sizes], np.float32)
    paint = np.array([PAINT[kind.colour] for kind in kinds], np.float32)
    colours = paint + random.uniform(-SPREAD, SPREAD, paint.shape).astype(np.float32)
    centres, turn = _places(random, radii[:, None] * np.array([EXTENT[kind.shape] for kind in kinds], np.float32))
    return Layout([kinds[number] for number in turn], centres, radii[turn], colours[turn])


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


def _captions(random: np.random.Generator, layout: Layout) -> list[str]:
    """One sentence in each of several forms; one of them does not mention sizes."""
    position = relation(*layout.centres[:2].tolist())
    first, second = layout.kinds[:2]
    found = []
    for number, form in enumerate(random.permutation(len(FORMS))[:CAPTIONS].tolist()):
        kinds = (first, second) if number else (first._replace(size=None), second._replace(size=None))
        found.append(phrased(FORMS[form], Statement(kinds[0], position, kinds[1])))
    return [found[number] for number in random.permutation(CAPTIONS).tolist()]


def _things(layout: Layout) -> list[Thing]:
    """The objects in shares of the picture, rounded to four places, so that they equal their stored form."""
    found = []
    for kind, (x, y), radius in zip(layout.kinds, layout.centres.tolist(), layout.radii.tolist(), strict=True):
        left, top, right, bottom = (radius * edge for edge in EXTENT[kind.shape])
        box = Box(*(round(edge / SIDE, 4) for edge in (x + left, y + top, x + right, y + bottom)))
        found.append(Thing(kind, (round(x / SIDE, 4), round(y / SIDE, 4)), box))
    return found


def _painted(random: list[np.random.Generator], layouts: list[Layout], size: int) -> NDArray[np.uint8]:
    """(I, size, size, 3) pictures of the layouts."""
    pixels, scale = grounds(random, size), np.float32(size / SIDE)
    picture = np.repeat(np.arange(len(layouts)), [len(layout.kinds) for layout in layouts])
    shapes = np.array([kind.shape for layout in layouts for kind in layout.kinds])
    centres, radii, colours = (np.concatenate([getattr(part, name) for part in layouts]) for name in Layout._fields[1:])
    for shape in SHAPES:
        of = np.flatnonzero(shapes == shape)
        if len(of):
            paint_on(pixels, picture[of], shape, centres[of] * scale, radii[of] * scale, colours[of])
    return np.clip(pixels + np.float32(0.5), 0, 255).astype(np.uint8)
