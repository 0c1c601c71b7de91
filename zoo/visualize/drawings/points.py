"""The drawing of a set of points with an answer and the true one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi, sin

import numpy as np

from zoo.visualize.drawing import TINY, Drawing, Point

LONGEST, SHORTEST, EDGE, FOOT = 380, 90, 18, 18
"""Pixels of the longer side of the points and the least of the shorter side, of the edge, and of the axis below."""
MOST_NUMBERED = 60
AWAY, SIDES = 11, 12
"""The distance of a number from its point, and the directions that are tried."""


def positions(points: Sequence[Sequence[float]]) -> list[Point]:
    """Return the position of each point, with y upwards.

    Plain numbers are placed side by side in the order in which they were read, each as high as its value.
    """
    if all(len(point) == 1 for point in points):
        return [(float(number), point[0]) for number, point in enumerate(points, 1)]
    return [(point[0], point[1]) for point in points]


def lines(goal: str, numbers: Sequence[int], at: Sequence[Point]) -> list[list[Point]]:
    """Return the lines of an answer, each from point to point and back to its first.

    The line of an order passes the numbers in the order of the answer, each as high as its value.

    Args:
        goal: hull, triangulation, tour or order.
        numbers: numbers of points, counted from 1; numbers of missing points are ignored.
        at: the positions of all points.
    """
    if goal == "order":
        where = [(float(rank), at[number - 1][1]) for rank, number in enumerate(numbers, 1) if number <= len(at)]
        return [where] * bool(where)
    if goal == "triangulation":
        corners = [numbers[first : first + 3] for first in range(0, len(numbers) - len(numbers) % 3, 3)]
        parts = [triangle for triangle in corners if max(triangle) <= len(at)]
    else:
        parts = [[number for number in numbers if number <= len(at)]]
    return [[at[number - 1] for number in (*part, part[0])] for part in parts if part]


def points_drawing(
    goal: str, points: Sequence[Sequence[float]], numbers: Sequence[int], target: Sequence[int], description: str
) -> Drawing:
    """Return the points with their numbers, the answer, and a broad line for the true answer behind it.

    The drawing has the proportions of the set. Numbers are placed away from lines and from other points.

    Args:
        goal: hull, triangulation, tour or order.
        points: the coordinates of each point.
        numbers: the numbers of points in the answer, counted from 1.
        target: the numbers of points in the true answer; empty where that is unknown.
        description: a text for readers who cannot see the drawing.
    """
    at = positions(points)
    xs, ys = zip(*at, strict=True)
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    across = up = LONGEST / (max(wide, high) or 1)
    axis = f"x {min(xs):.3g} to {max(xs):.3g}, y {min(ys):.3g} to {max(ys):.3g}"
    if goal == "order":  # positions and values have different units
        across, up = LONGEST / (wide or 1), 0.6 * LONGEST / (high or 1)
        axis = "order read; the line: order of the answer"
    inner = (max(wide * across, SHORTEST), max(high * up, SHORTEST))
    left, bottom = EDGE + (inner[0] - wide * across) / 2, EDGE + (inner[1] + high * up) / 2

    def put(point: Point) -> Point:
        return left + (point[0] - min(xs)) * across, bottom - (point[1] - min(ys)) * up

    sheet = Drawing(inner[0] + 2 * EDGE, inner[1] + 2 * EDGE + FOOT, description)
    sheet.box("frames", 0.5, 0.5, inner[0] + 2 * EDGE - 1, inner[1] + 2 * EDGE - 1)
    for kind, given in (("targets", target), ("answers", numbers)):
        for line in lines(goal, given, at):
            sheet.line(kind, [put(point) for point in line])
    spots = [put(point) for point in at]
    for x, y in spots:
        sheet.disc("points", x, y, 3.2)
    drawn = [shape.points for kind in ("targets", "answers") for shape in sheet.shapes[kind]]
    for number, (x, y) in enumerate(free_places(spots[:MOST_NUMBERED], spots, drawn), 1):
        sheet.write(x, y + 3.8, str(number), 10.6, "ink", side="center")
    sheet.write(2, sheet.height - 4, axis, TINY, "faint")
    return sheet


def free_places(points: Sequence[Point], others: Sequence[Point], drawn: Sequence[Sequence[Point]]) -> list[Point]:
    """Return a position for the number of each point, as far as possible from lines, points and other numbers."""
    pieces = np.array([piece for line in drawn for piece in pairwise(line)]).reshape(-1, 2, 2)
    begins, along = pieces[:, 0], pieces[:, 1] - pieces[:, 0]
    length = np.maximum((along**2).sum(1), 1e-9)
    turns = [2 * pi * (number + 0.5) / SIDES for number in range(SIDES)]
    found: list[Point] = []
    for x, y in points:
        tried = [(x + AWAY * cos(turn), y - AWAY * sin(turn)) for turn in turns]
        places = np.array(tried)[:, None]  # (SIDES, 1, 2)
        blocked = np.array([other for other in others if other != (x, y)] + found).reshape(-1, 2)
        share = np.clip(((places - begins) * along).sum(2) / length, 0, 1)[..., None]
        nearest = np.concatenate([np.broadcast_to(blocked, (SIDES, *blocked.shape)), begins + share * along], 1)
        room = np.hypot(*(nearest - places).transpose(2, 0, 1)).min(1, initial=2.0 * AWAY)
        found.append(tried[int(np.argmax(room))])
    return found
