"""The drawing of a set of points with an answer and the true one."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zoo.visualize.drawing import Drawing, Point
from zoo.visualize.points.answer import answer, in_order, lines, places

if TYPE_CHECKING:
    from zoo.tasks.pointing import PointingPrediction

LONGEST, SHORTEST, EDGE, FOOT = 380, 90, 18, 18
"""Pixels of the longer side of the points and the least of the shorter side, of the edge, and of the axis below."""
MOST_NUMBERED = 60
AWAY, SIDES = 11, 12
"""The distance of a number from its point, and the directions that are tried."""


def points_drawing(prediction: PointingPrediction, target: Sequence[int] | None = None) -> Drawing:
    """Return the points with their numbers, the answer, and a broad line for the `target` behind it.

    The drawing has the proportions of the set. Numbers are placed away from lines and from other points.
    """
    at, goal = places(prediction), prediction.goal
    xs, ys = zip(*at, strict=True)
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    across = up = LONGEST / (max(wide, high) or 1)
    if goal == "order":  # positions and values have different units
        across, up = LONGEST / (wide or 1), 0.6 * LONGEST / (high or 1)
    inner = (max(wide * across, SHORTEST), max(high * up, SHORTEST))
    left, bottom = EDGE + (inner[0] - wide * across) / 2, EDGE + (inner[1] + high * up) / 2

    def put(point: Point) -> Point:
        return left + (point[0] - min(xs)) * across, bottom - (point[1] - min(ys)) * up

    spoken = f"{goal} of {len(at)} points: {answer(prediction)}"
    sheet = Drawing(inner[0] + 2 * EDGE, inner[1] + 2 * EDGE + FOOT, spoken)
    sheet.box("frames", 0.5, 0.5, inner[0] + 2 * EDGE - 1, inner[1] + 2 * EDGE - 1, "none")
    drawn: list[list[Point]] = []
    for kind, numbers in (("targets", target or ()), ("answers", prediction.best.numbers)):
        made = [in_order(numbers, at)] * bool(numbers) if goal == "order" else lines(goal, numbers, at)
        for line in made:
            drawn.append([put(point) for point in line])
            sheet.line(kind, drawn[-1])
    spots = [put(point) for point in at]
    for x, y in spots:
        sheet.disc("points", x, y, 3.2)
    for number, (x, y) in enumerate(free_places(spots[:MOST_NUMBERED], spots, drawn), 1):
        sheet.write(x, y + 3.8, str(number), 10.6, "ink", side="center")
    axis = "order read; the line: order of the answer" if goal == "order" else f"x {min(xs):.3g} to {max(xs):.3g}"
    if goal != "order":
        axis += f", y {min(ys):.3g} to {max(ys):.3g}"
    sheet.write(2, sheet.height - 4, axis, 9.8, "faint")
    return sheet


def free_places(points: Sequence[Point], others: Sequence[Point], drawn: Sequence[Sequence[Point]]) -> list[Point]:
    """Return a position for the number of each point, as far as possible from lines, points and other numbers."""
    pieces = [(line[k], line[k + 1]) for line in drawn for k in range(len(line) - 1)]
    begins, ends = np.array([one for one, _ in pieces]), np.array([one for _, one in pieces])
    found: list[Point] = []
    for point in points:
        turns = [2 * pi * (number + 0.5) / SIDES for number in range(SIDES)]
        tried = [(point[0] + AWAY * cos(turn), point[1] - AWAY * sin(turn)) for turn in turns]
        blocked = [other for other in others if other != point] + found
        room = [_room(np.array(place), begins, ends, blocked) for place in tried]
        found.append(tried[int(np.argmax(room))])
    return found


def _room(
    place: NDArray[np.float64], begins: NDArray[np.float64], ends: NDArray[np.float64], blocked: list[Point]
) -> float:
    """Return the distance from `place` to the nearest line or point."""
    nearest = min((float(np.hypot(*(place - other))) for other in np.array(blocked)), default=2.0 * AWAY)
    if len(begins):
        along = ends - begins
        length = np.maximum((along**2).sum(1), 1e-9)
        share = np.clip(((place - begins) * along).sum(1) / length, 0, 1)
        nearest = min(nearest, float(np.hypot(*(begins + share[:, None] * along - place).T).min()))
    return min(nearest, 2.0 * AWAY)
