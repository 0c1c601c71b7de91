"""Parts of an answer that are drawn or printed: positions, lines, numbers and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoo.tasks.pointing import PointingPrediction

Point = tuple[float, float]


def places(prediction: PointingPrediction) -> list[Point]:
    """Return the position of each point, with y upwards.

    Plain numbers are placed side by side in the order in which they were read, each as high as its value.
    """
    if all(len(point) == 1 for point in prediction.points):
        return [(float(number), point[0]) for number, point in enumerate(prediction.points, 1)]
    return [(point[0], point[1]) for point in prediction.points]


def lines(goal: str, numbers: Sequence[int], at: Sequence[Point]) -> list[list[Point]]:
    """Return the lines of an answer, each from point to point and back to its first; an order has none.

    Args:
        goal: hull, triangulation, tour or order.
        numbers: numbers of points, counted from 1; numbers of missing points are ignored.
        at: the positions of all points.
    """
    where = [at[number - 1] for number in numbers if number <= len(at)]
    if goal == "order" or not where:
        return []
    if goal == "triangulation":
        corners = [numbers[first : first + 3] for first in range(0, len(numbers) - len(numbers) % 3, 3)]
        return [
            [at[number - 1] for number in (*triangle, triangle[0])]
            for triangle in corners
            if all(number <= len(at) for number in triangle)
        ]
    return [[*where, where[0]]]


def in_order(numbers: Sequence[int], at: Sequence[Point]) -> list[Point]:
    """Return the positions of plain numbers in the order of an answer, each as high as its value."""
    return [(float(rank), at[number - 1][1]) for rank, number in enumerate(numbers, 1) if number <= len(at)]


def verdict(prediction: PointingPrediction) -> str:
    """Return the figures of the best answer in words."""
    figures, best = prediction.best.figures, prediction.best
    parts = [] if best.finished else ["unfinished"]
    if "accuracy" in figures:
        parts.append("right" if figures["accuracy"] else "not the target's")
    if figures.get("non_simple"):
        parts.append("not a simple polygon")
    if figures.get("invalid"):
        parts.append("not a tour: not every point once")
    parts += [
        f"{name} {figures[name]:.4g}" for name in ("area", "coverage", "length", "ratio") if counts(figures, name)
    ]
    return ", ".join(parts)


def counts(figures: dict[str, float], name: str) -> bool:
    """Whether a figure exists and is defined."""
    return name in figures and figures[name] == figures[name]


def written(prediction: PointingPrediction) -> str:
    """Return the goal, the numbers of the points and the figures, then one line per point with its coordinates.

    A triangulation has one line per triangle.
    """
    best, points = prediction.best, prediction.points
    parts = [f"{prediction.goal} of {len(points)} points: {answer(prediction)}", verdict(prediction)]
    lines = ["  ".join(filter(None, parts))]
    if prediction.goal == "triangulation":
        corners = (best.numbers[at : at + 3] for at in range(0, len(best.numbers), 3))
        lines += ["\t" + "\t".join(map(str, triangle)) for triangle in corners]
    else:
        lines += ["\t" + "\t".join([str(number), *_coordinates(prediction, number)]) for number in best.numbers]
    return "\n".join(lines)


def answer(prediction: PointingPrediction) -> str:
    """Return the numbers of the points; triangles are separated by commas."""
    numbers = list(map(str, prediction.best.numbers))
    if prediction.goal != "triangulation":
        return " ".join(numbers) or "nothing"
    return ", ".join(" ".join(numbers[at : at + 3]) for at in range(0, len(numbers), 3)) or "nothing"


def points(prediction: PointingPrediction) -> str:
    """Return the coordinates of the points, in the order in which they were read."""
    return "; ".join(" ".join(_coordinates(prediction, number + 1)) for number in range(len(prediction.points)))


def _coordinates(prediction: PointingPrediction, number: int) -> list[str]:
    """Return the coordinates of the point with that number, counted from 1."""
    if number > len(prediction.points):
        return ["there is no such point"]
    return [f"{value:.6g}" for value in prediction.points[number - 1]]
