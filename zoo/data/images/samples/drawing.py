"""Draws shapes and grounds as pixels."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]

PAINT = {
    "red": (214, 40, 44),
    "orange": (244, 140, 24),
    "yellow": (240, 224, 48),
    "green": (44, 164, 72),
    "blue": (44, 84, 214),
    "purple": (150, 52, 184),
}
SPREAD = 14
"""Largest difference between the colour of an object and its paint, in each of red, green and blue."""
GREYS = (35, 105)
"""The darkest and the lightest ground, which is nearly grey and darker than the strongest colour of every object."""
TINT, WAVES, GRAIN = 16, 20, 7
"""Properties of a ground: difference of its colours from grey, height of gradients and waves, deviation of pixels."""
COARSE = 4  # Number of points per axis on which the waves of a ground are drawn

POINTS = 5
INNER = 0.45
"""Number of points of a star, and radius of its inner corners; the outer corners have radius 1."""


def _star() -> Numbers:
    """Corners (2 POINTS, 2) of a star of radius 1 with one point upwards."""
    angle = np.pi * np.arange(2 * POINTS) / POINTS
    radius = np.where(np.arange(2 * POINTS) % 2, INNER, 1)
    return np.stack([radius * np.sin(angle), -radius * np.cos(angle)], 1).astype(np.float32)


STAR = _star()
TRIANGLE = np.array([[0, -1], [0.95, 0.75], [-0.95, 0.75]], np.float32)
EDGE = 0.88  # Half the side of a square of radius 1
EXTENT = {
    "circle": (-1, -1, 1, 1),
    "square": (-EDGE, -EDGE, EDGE, EDGE),
    "triangle": (*TRIANGLE.min(0).tolist(), *TRIANGLE.max(0).tolist()),
    "star": (*STAR.min(0).tolist(), *STAR.max(0).tolist()),
}
"""Left, top, right and bottom of each shape of radius 1 around its centre, y growing downwards."""


def distance(shape: str, x: Numbers, y: Numbers) -> Numbers:
    """Signed distance of points to a shape of radius 1 around (0, 0), negative inside, for arrays of equal size.

    It is exact near edges, as smooth edges require, except at corners. The shape lies within EXTENT.
    """
    if shape == "circle":
        return np.hypot(x, y) - np.float32(1)
    if shape == "square":
        return np.maximum(np.abs(x), np.abs(y)) - np.float32(EDGE)
    x = np.abs(x)
    _, top, right, bottom = (np.float32(edge) for edge in EXTENT[shape])
    found = _beyond(TRIANGLE[0], TRIANGLE[1], x, y) if shape == "triangle" else _in_star(x, y)
    return np.maximum(np.maximum(found, x - right), np.maximum(top - y, y - bottom))


def _in_star(x: Numbers, y: Numbers) -> Numbers:
    """Signed distance to a star.

    A star is symmetric, so that its right half is enough. A point of that half lies in the fan between one outer and
    one inner corner; it is outside the star if it lies beyond the edge between them.
    """
    half = np.float32(np.pi / POINTS)
    angle = np.arctan2(x, -y)  # from the point upwards, clockwise
    angle = np.abs(np.mod(angle + half, 2 * half) - half)
    radius = np.hypot(x, y)
    return _beyond(STAR[0], STAR[1], radius * np.sin(angle), -radius * np.cos(angle))


def _beyond(start: Numbers, end: Numbers, x: Numbers, y: Numbers) -> Numbers:
    """Signed distance of points to the left of the line from `start` to `end`, which runs clockwise around a shape."""
    (dx, dy), length = end - start, np.hypot(*(end - start))
    return ((x - start[0]) * dy - (y - start[1]) * dx) / length


def paint_on(
    pixels: Numbers, pictures: NDArray[np.int64], shape: str, centres: Numbers, radii: Numbers, colours: Numbers
) -> None:
    """Draw one object of `shape` on each of some `pictures` of `pixels` (I, H, W, 3), with smooth edges: centres (N, 2)
    as x and y in pixels, radii (N,), colours (N, 3)."""
    side = int(2 * radii.max()) + 3
    corner = np.floor(centres - np.float32(side / 2)).astype(int)
    at = np.arange(side)
    columns, rows = corner[:, :1] + at, corner[:, 1:] + at
    x = (columns + np.float32(0.5) - centres[:, :1])[:, None, :] / radii[:, None, None]
    y = (rows + np.float32(0.5) - centres[:, 1:])[:, :, None] / radii[:, None, None]
    away = distance(shape, *np.broadcast_arrays(x, y)) * radii[:, None, None]
    cover = np.clip(np.float32(0.5) - away, 0, 1)
    height, width = pixels.shape[1:3]
    inside = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[:, None, :]
    object_, row, column = np.nonzero(inside & (cover > 0))
    share = cover[object_, row, column][:, None]
    place = pictures[object_], rows[object_, row], columns[object_, column]
    pixels[place] += share * (colours[object_] - pixels[place])


def grounds(random: list[np.random.Generator], size: int) -> Numbers:
    """Grounds (I, size, size, 3), each from its own generator: nearly grey, with gradients, waves and grain."""
    base = np.stack([r.uniform(*GREYS) + r.uniform(-TINT, TINT, 3) for r in random]).astype(np.float32)
    waves = np.stack([r.uniform(-WAVES, WAVES, (COARSE, COARSE)) for r in random]).astype(np.float32)
    grain = np.stack([r.standard_normal((size, size), np.float32) for r in random])
    spread = _spread(size)
    grey = np.einsum("ya,iab,xb->iyx", spread, waves, spread, optimize=True) + GRAIN * grain
    return base[:, None, None] + grey[..., None]


def _spread(size: int) -> Numbers:
    """Interpolation weights (size, COARSE) of the wave points in each pixel."""
    place = np.linspace(0, COARSE - 1, size, dtype=np.float32)[:, None]
    return np.clip(1 - np.abs(place - np.arange(COARSE)), 0, 1).astype(np.float32)
