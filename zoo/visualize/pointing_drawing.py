"""What joins the points of an answer, for pictures and pages alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoo.tasks.pointing import PointingPrediction

Point = tuple[float, float]


def places(prediction: PointingPrediction) -> list[Point]:
    """Where each point is drawn. Numbers alone stand side by side in the order in which they were read, each as high as
    it is."""
    if all(len(point) == 1 for point in prediction.points):
        return [(float(number), point[0]) for number, point in enumerate(prediction.points, 1)]
    return [(point[0], point[1]) for point in prediction.points]


def lines(goal: str, numbers: Sequence[int], at: Sequence[Point]) -> list[list[Point]]:
    """The lines of an answer, each from point to point and back to its first; `numbers` are those of the points, from
    1, of which there may be some that do not exist. An order has none."""
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
    """Numbers in the order of an answer: the first stands first, each as high as it is."""
    return [(float(rank), at[number - 1][1]) for rank, number in enumerate(numbers, 1) if number <= len(at)]


def verdict(prediction: PointingPrediction) -> str:
    """What can be said of the best answer, in words."""
    figures, best = prediction.best.figures, prediction.best
    parts = [] if best.finished else ["unfinished"]
    if "accuracy" in figures:
        parts.append("right" if figures["accuracy"] else "not the target's")
    if figures.get("non_simple"):
        parts.append("no simple polygon")
    if figures.get("invalid"):
        parts.append("no tour: not every point once")
    parts += [f"{name} {figures[name]:.4g}" for name in ("area", "coverage", "length", "ratio") if told(figures, name)]
    return ", ".join(parts)


def told(figures: dict[str, float], name: str) -> bool:
    """Whether a figure is there and counts."""
    return name in figures and figures[name] == figures[name]
