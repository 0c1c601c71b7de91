"""Answers on a page: the points with what was pointed out, and the weights of each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zoo.visualize import page
from zoo.visualize.page import text
from zoo.visualize.pointing_drawing import in_order, lines, places, verdict
from zoo.visualize.pointing_text import answer

if TYPE_CHECKING:
    from zoo.tasks.pointing import PointingPrediction

STYLE = page.resource("pointing_page.css")
SIDE, EDGE = 320, 16
"""Of a drawing, in its own units."""
MOST_STEPS, MOST_PLACES = 60, 101


def about(predictions: Sequence[PointingPrediction | None]) -> str:
    """What the page shows and how it is read."""
    parts = [page.how_many(predictions, "set"), "Points are counted from 1, in the order in which they were read."]
    if any(prediction is not None and prediction.best.attention for prediction in predictions):
        parts.append(
            "Below a drawing stands, for each step, how much was on the end and on each point: point at a cell to see."
        )
    return " ".join(parts)


def article(prediction: PointingPrediction) -> str:
    """One set, and what was pointed out of it."""
    head = (
        f'<header><div><h2 class="answer">{text(answer(prediction))}</h2>\n'
        f'<p class="verdict">{text(_said(prediction))}</p></div></header>'
    )
    numbers = " ".join(map(str, prediction.best.numbers))
    return page.article(f"{head}\n{_drawing(prediction)}\n{_weights(prediction)}", goal=prediction.goal, answer=numbers)


def _said(prediction: PointingPrediction) -> str:
    parts = [f"{prediction.goal} of {len(prediction.points)} points", verdict(prediction)]
    return ", ".join([*filter(None, parts), f"log-probability {prediction.best.log_prob:.3f}"])


def _drawing(prediction: PointingPrediction) -> str:
    at = places(prediction)
    xs, ys = zip(*at, strict=True)
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    if prediction.goal != "order":
        wide = high = max(wide, high)
    inner = SIDE - 2 * EDGE

    def put(point: tuple[float, float]) -> str:
        x = EDGE + inner * (point[0] - min(xs)) / (wide or 1)
        y = SIDE - EDGE - inner * (point[1] - min(ys)) / (high or 1)
        return f"{x:.2f},{y:.2f}"

    numbers, goal = prediction.best.numbers, prediction.goal
    drawn = [in_order(numbers, at)] if goal == "order" else lines(goal, numbers, at)
    paths = [f'<polyline points="{" ".join(map(put, line))}"/>' for line in drawn]
    marks = []
    for number, point in enumerate(at, 1):
        x, y = put(point).split(",")
        marks.append(
            f'<circle cx="{x}" cy="{y}" r="3"/><text x="{float(x) + 5:.2f}" y="{float(y) - 4:.2f}">{number}</text>'
        )
    return f'<svg class="points" viewBox="0 0 {SIDE} {SIDE}" role="img">{"".join(paths)}{"".join(marks)}</svg>'


def _weights(prediction: PointingPrediction) -> str:
    weights = prediction.best.attention
    if not weights:
        return ""
    written = [*map(str, prediction.best.numbers), "end"]
    names = ["end", *map(str, range(1, len(weights[0])))][:MOST_PLACES]
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    rows = [f"<thead><tr><th></th>{heads}</tr></thead><tbody>"]
    for step, row in list(enumerate(weights))[:MOST_STEPS]:
        cells = "".join(_cell(weight, name) for weight, name in zip(row, names, strict=False))
        rows.append(f'<tr><th scope="row">{written[step]}</th>{cells}</tr>')
    cut = len(weights) > MOST_STEPS or len(weights[0]) > MOST_PLACES
    note = f'\n<p class="verdict">… cut to {MOST_STEPS} steps and {MOST_PLACES - 1} points</p>' if cut else ""
    return '<div class="grid"><table class="steps">' + "\n".join(rows) + f"\n</tbody></table></div>{note}"


def _cell(weight: float, name: str) -> str:
    tip = f"{name}: {weight:.3f}"
    return f'<td data-weight="{weight!r}" data-tip="{tip}" style="--v:{min(1.0, weight):.3f}"></td>'
