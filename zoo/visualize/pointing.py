"""The view of pointing: sets of points drawn with the answer and the true one, and the attention of each step."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Sequence
from itertools import pairwise
from math import cos, nan, pi, sin
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zoo.data.points.batch import PointSpec
from zoo.data.points.readers import KINDS, OUTPUT, read_sets
from zoo.errors import DataError
from zoo.predicting.pointing import ExaminedPointing, PointingPrediction
from zoo.visualize.blocks import Beside, Block, Drawn, Grid, Head, Rows
from zoo.visualize.drawing import TINY, Drawing, Key, Point
from zoo.visualize.view import Field, Pictures, View

if TYPE_CHECKING:
    from zoo.tasks.pointing import Pointing

POINTS = Key("answers", "answer", "Points are counted from 1, in the order in which they were read.")
TARGET = Key("targets", "true answer")
STEPS = Key(
    long="The grid has the attention of each step to the end and to each point; point at a cell for its number."
)
NEXT = Key("true", "true next point")
LONGEST, SHORTEST, EDGE, FOOT = 380, 90, 18, 18  # The longer side, the least shorter side, the edge, the axis below
MOST_NUMBERED = 60
AWAY, SIDES = 11, 12  # The distance of a number from its point, and the directions that are tried


class PointingView(View):
    """Sets of points with their answers."""

    noun, plural, typed = "set of points", "sets of points", "points.csv"
    columns = ("points", "answer", "log-probability", "figures")  # `answer` has the numbers of points, from 1
    title = "What the network pointed out"
    searches = ("beam",)
    spec: PointSpec

    def prepare(self, predictor: Any, options: Namespace) -> None:
        super().prepare(predictor, options)
        self.spec = predictor.task.spec

    def read_word(self, word: str) -> list[Any | None]:
        """Return the set of points that a word is, or those of the file that it names."""
        return self.read_file(Path(word)) if os.path.isfile(word) else super().read_word(word)

    def read_file(self, file: Path) -> list[Any | None]:
        return [one.points for one in read_sets(file, self.spec.goal)]

    def parse(self, line: str) -> list[list[float]]:
        """Return the points of a line: their coordinates, separated by blanks or commas."""
        line, width = line.strip(), self.spec.width
        try:
            numbers = [float(field) for field in re.split(r"[\s,;]+", line.split(OUTPUT)[0]) if field]
        except ValueError as error:
            expected = f"the coordinates of points, x1 y1 x2 y2 ..., or a file ({', '.join(KINDS)})"
            if Path(line).suffix in KINDS or "/" in line:
                raise DataError(f"{line}: no such file; expected a file of point sets, or coordinates") from None
            raise DataError(f"{line[:60]!r}: {error}; expected {expected}") from None
        if len(numbers) % width:
            raise DataError(f"{line[:60]!r}: {len(numbers)} numbers; expected {width} for each point")
        return [numbers[at : at + width] for at in range(0, len(numbers), width)]

    def form(self) -> tuple[Field, ...]:
        two = self.spec.width == 2
        return (Field(f"points, one per line{': x y' if two else ''}", 5, "points" if two else "text"),)

    def row(self, prediction: PointingPrediction) -> list[Any]:
        best = prediction.best
        points = "; ".join(" ".join(_coordinates(prediction, n)) for n in range(1, len(prediction.points) + 1))
        figures = ", ".join(f"{name} {value:.4g}" for name, value in best.figures.items() if value == value)
        return [points, answer(prediction), round(best.log_prob, 4), figures]

    def terminal(self, prediction: PointingPrediction, number: int, options: Namespace) -> str:
        """Return the answer and its figures, then one line per point with its coordinates, or per triangle."""
        parts = [f"{prediction.goal} of {len(prediction.points)} points: {answer(prediction)}", verdict(prediction)]
        rows = _triangles(prediction)
        if prediction.goal != "triangulation":
            rows = [[str(number), *_coordinates(prediction, number)] for number in prediction.best.numbers]
        return "\n".join(["  ".join(filter(None, parts)), *("\t" + "\t".join(row) for row in rows)])

    def try_it(self, data: Any) -> str:
        return self.typed

    def blocks(self, prediction: PointingPrediction, examined: ExaminedPointing | None = None) -> list[Block]:
        best, goal, points = prediction.best, prediction.goal, prediction.points
        target, about = examined.target if examined else None, f"{goal} of {len(points)} points"
        head = Head(
            answer(prediction),
            under=", ".join(filter(None, [about, verdict(prediction), f"log-probability {best.log_prob:.3f}"])),
            above="answer",
            data={"goal": goal, "answer": " ".join(map(str, best.numbers))},
        )
        drawn = Drawn(points_drawing(prediction, target or ()), keys=(POINTS, *[TARGET] * bool(target)))
        if not best.attention:
            return [head, drawn]
        grid = Grid(
            [f"{step}: {name}" for step, name in enumerate([*best.numbers, "end"][: len(best.attention)], 1)],
            ["end", *map(str, range(1, len(best.attention[0])))],
            best.attention,
            true=set(true_places(best.numbers, target)),
            axes=("steps", "points"),
            keys=(STEPS, *[NEXT] * bool(target)),
        )
        return [head, Beside(drawn, grid)]

    def test_pictures(self, task: Pointing) -> Pictures:
        """Return the figures of each part of the test, e.g. of larger sets than those of the training."""
        from zoo.visualize.renderers.figure import draw

        if len(rows := task.shown_figures()) < 2:
            return {}
        names = list(dict.fromkeys(name for row in rows.values() for name in row))
        table = [(part, *(row.get(name, "") for name in names)) for part, row in rows.items()]
        titles = ["", *(name.replace("_", " ") for name in names)]
        return {"figures": lambda: draw([Head("test"), Rows(table, titles)])}


def true_places(numbers: Sequence[int], target: Sequence[int] | None) -> list[tuple[int, int]]:
    """Return (step, place) of the next true point as long as the answer agrees with the target; the end is place 0."""
    steps = enumerate([] if target is None else [*target, 0])
    return [(step, place) for step, place in steps if list(numbers[:step]) == list((target or ())[:step])]


def verdict(prediction: PointingPrediction) -> str:
    """Return the figures of the best answer in words."""
    figures, parts = prediction.best.figures, [] if prediction.best.finished else ["unfinished"]
    if "accuracy" in figures:
        parts.append("right" if figures["accuracy"] else "not the target's")
    parts += ["not a simple polygon"] * bool(figures.get("non_simple"))
    parts += ["not a tour: not every point once"] * bool(figures.get("invalid"))
    values = [(name, figures.get(name, nan)) for name in ("area", "coverage", "length", "ratio")]
    return ", ".join(parts + [f"{name} {value:.4g}" for name, value in values if value == value])


def answer(prediction: PointingPrediction) -> str:
    """Return the numbers of the points; triangles are separated by commas."""
    if prediction.goal == "triangulation":
        return ", ".join(map(" ".join, _triangles(prediction))) or "nothing"
    return " ".join(map(str, prediction.best.numbers)) or "nothing"


def _triangles(prediction: PointingPrediction) -> list[list[str]]:
    numbers = list(map(str, prediction.best.numbers))
    return [numbers[at : at + 3] for at in range(0, len(numbers), 3)]


def _coordinates(prediction: PointingPrediction, number: int) -> list[str]:
    points = prediction.points
    return [f"{value:.6g}" for value in points[number - 1]] if number <= len(points) else ["unknown point"]


# The drawing


def positions(points: Sequence[Sequence[float]]) -> list[Point]:
    """Return the position of each point, with y upwards. Plain numbers are side by side, each as high as its value."""
    return [(point[0], point[1]) if point[1:] else (float(place), point[0]) for place, point in enumerate(points, 1)]


def lines(goal: str, numbers: Sequence[int], at: Sequence[Point]) -> list[list[Point]]:
    """Return the lines of an answer to a goal, each from point to point and back to its first.

    The line of an order passes the numbers in the order of the answer, each as high as its value. Missing points are
    ignored.
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


def points_drawing(prediction: PointingPrediction, target: Sequence[int]) -> Drawing:
    """Return the points with their numbers, the answer, and a broad line for the true answer behind it."""
    goal, at = prediction.goal, positions(prediction.points)
    xs, ys = zip(*at, strict=True)
    west, south, wide, high = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
    across = up = LONGEST / (max(wide, high) or 1)
    axis = f"x {west:.3g} to {max(xs):.3g}, y {south:.3g} to {max(ys):.3g}"
    if goal == "order":  # positions and values have different units
        across, up = LONGEST / (wide or 1), 0.6 * LONGEST / (high or 1)
        axis = "order read; the line: order of the answer"
    inner = (max(wide * across, SHORTEST), max(high * up, SHORTEST))
    left, bottom = EDGE + (inner[0] - wide * across) / 2, EDGE + (inner[1] + high * up) / 2

    def put(point: Point) -> Point:
        return left + (point[0] - west) * across, bottom - (point[1] - south) * up

    spoken = f"{goal} of {len(at)} points: {answer(prediction)}"
    sheet = Drawing(inner[0] + 2 * EDGE, inner[1] + 2 * EDGE + FOOT, spoken)
    sheet.box("frames", 0.5, 0.5, inner[0] + 2 * EDGE - 1, inner[1] + 2 * EDGE - 1)
    for kind, given in (("targets", target), ("answers", prediction.best.numbers)):
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
