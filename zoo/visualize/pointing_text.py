"""An answer on the terminal: the numbers of the points, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoo.visualize.pointing_drawing import verdict

if TYPE_CHECKING:
    from zoo.tasks.pointing import PointingPrediction


def written(prediction: PointingPrediction) -> str:
    """The goal, the numbers of the points from 1, what can be said of them, and a line for each with its coordinates;
    of a triangulation a line for each triangle."""
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
    """The numbers, of triangles with a comma behind each."""
    numbers = list(map(str, prediction.best.numbers))
    if prediction.goal != "triangulation":
        return " ".join(numbers) or "nothing"
    return ", ".join(" ".join(numbers[at : at + 3]) for at in range(0, len(numbers), 3)) or "nothing"


def points(prediction: PointingPrediction) -> str:
    """Where the points are, in the order in which they were read."""
    return "; ".join(" ".join(_coordinates(prediction, number + 1)) for number in range(len(prediction.points)))


def _coordinates(prediction: PointingPrediction, number: int) -> list[str]:
    """Of the point of that number, from 1; none where it does not exist."""
    if number > len(prediction.points):
        return ["there is no such point"]
    return [f"{value:.6g}" for value in prediction.points[number - 1]]
