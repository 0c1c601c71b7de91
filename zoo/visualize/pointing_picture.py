"""An answer as a picture: the points with what was pointed out and what is true, and the weights of each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from zoo.visualize.drawing import ATTENTION, BLUE, DPI, FAINT, INK, LINE, ORANGE, SOFT
from zoo.visualize.pointing_drawing import in_order, lines, places, verdict

if TYPE_CHECKING:
    from zoo.tasks.pointing import PointingPrediction

SIDE, CELL, MARGIN, HEAD, FOOT = 4.2, 0.22, 0.35, 0.45, 0.5
"""Inches: a side of the drawing, of a cell of the weights, the edge, what is above and below."""
MOST_STEPS, MOST_PLACES, MOST_NUMBERED = 40, 61, 60
SHADES = LinearSegmentedColormap.from_list("attention", ATTENTION)


def pointing_figure(prediction: PointingPrediction, target: Sequence[int] | None = None) -> Figure:
    """The points with their numbers, the answer in blue, the `target`, numbers from 1, broad and orange behind it; and,
    where the network has attention, a row of weights for each step and a column for the end and each point, the darker
    the more. In these the true point is framed as long as the answer is the target's.

    At most MOST_STEPS rows and MOST_PLACES columns are shown. No pyplot, so drawing needs no display and leaves no
    state behind.
    """
    weights = [row[:MOST_PLACES] for row in (prediction.best.attention or ())[:MOST_STEPS]]
    columns, rows = (len(weights[0]), len(weights)) if weights else (0, 0)
    right = MARGIN + CELL * columns + MARGIN if columns else 0.0
    width, height = 2 * MARGIN + SIDE + right, HEAD + max(SIDE, CELL * rows + MARGIN) + FOOT
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    axes = figure.add_axes((MARGIN / width, 1 - (HEAD + SIDE) / height, SIDE / width, SIDE / height))
    _points(axes, prediction, target)
    if columns:
        left, bottom = 2 * MARGIN + SIDE + 0.15, height - HEAD - MARGIN - CELL * rows
        box = (left / width, bottom / height, CELL * columns / width, CELL * rows / height)
        _weights(figure.add_axes(box), weights, prediction, target)
    x = MARGIN / width
    title = f"{prediction.goal} of {len(prediction.points)} points"
    figure.text(x, 1 - 0.22 / height, title, fontsize=10, weight="bold", color=INK)
    figure.text(x, 1 - 0.38 / height, verdict(prediction), fontsize=8, color=SOFT)
    notes = ["blue: pointed out", *(["orange: true"] if target else [])]
    if columns and (len(prediction.best.attention or ()) > rows or len(prediction.points) >= MOST_PLACES):
        notes.append(f"weights cut to {MOST_STEPS} steps and {MOST_PLACES - 1} points")
    figure.text(x, 0.1 / height, "; ".join(notes), fontsize=7, color=SOFT)
    return figure


def _points(axes: Axes, prediction: PointingPrediction, target: Sequence[int] | None) -> None:
    at, goal = places(prediction), prediction.goal
    for numbers, color, broad, name in (
        (target or (), ORANGE, 4.5, "target"),
        (prediction.best.numbers, BLUE, 1.6, "answer"),
    ):
        drawn = [in_order(numbers, at)] if goal == "order" and numbers else lines(goal, numbers, at)
        axes.add_collection(LineCollection(drawn, colors=color, linewidths=broad, label=name), autolim=False)
    axes.scatter([x for x, _ in at], [y for _, y in at], s=16, color=INK, zorder=3)
    for number, (x, y) in enumerate(at[:MOST_NUMBERED], 1):
        axes.annotate(str(number), (x, y), (3, 3), textcoords="offset points", fontsize=7, color=INK)
    axes.margins(0.08)
    if goal == "order":
        axes.set_xlabel("place read; lines: place in the answer", fontsize=7, color=SOFT)
    else:
        axes.set_aspect("equal", adjustable="datalim")
    axes.tick_params(labelsize=7, colors=SOFT, length=2)
    for side in axes.spines.values():
        side.set_color(LINE)


def _weights(
    axes: Axes, weights: Sequence[Sequence[float]], prediction: PointingPrediction, target: Sequence[int] | None
) -> None:
    rows, columns = len(weights), len(weights[0])
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.pcolormesh(weights, cmap=SHADES, vmin=0, vmax=1, edgecolors="white", linewidth=0.5)
    written = [*map(str, prediction.best.numbers), "end"]
    names = ["end", *(str(number) for number in range(1, columns))]
    axes.set_xticks([x + 0.5 for x in range(columns)], names, fontsize=6, rotation=90)
    axes.set_yticks([y + 0.5 for y in range(rows)], [f"{y + 1}: {written[y]}" for y in range(rows)], fontsize=6)
    axes.tick_params(length=0, pad=2, top=True, labeltop=True, bottom=False, labelbottom=False, colors=INK)
    frames = [Rectangle((place, step), 1, 1) for step, place in true_places(prediction.best.numbers, target)]
    shown = [frame for frame in frames if frame.get_x() < columns and frame.get_y() < rows]
    axes.add_collection(PatchCollection(shown, facecolors="none", edgecolors=ORANGE, linewidths=1.2), autolim=False)
    for side in axes.spines.values():
        side.set_color(FAINT)


def true_places(numbers: Sequence[int], target: Sequence[int] | None) -> list[tuple[int, int]]:
    """(step, place), the end being place 0: where the next of the `target` is, as long as what was written is the
    target's."""
    if target is None:
        return []
    found = []
    for step, place in enumerate([*target, 0]):
        if list(numbers[:step]) != list(target[:step]):
            break
        found.append((step, place))
    return found


def figures_figure(name: str, rows: Mapping[str, Mapping[str, str]]) -> Figure:
    """The figures of a test as a table: a row for each group, such as the sets of 50 points."""
    columns = list(next(iter(rows.values())))
    width, height = 1.2 + 1.1 * len(columns), 0.7 + 0.25 * len(rows)
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    figure.text(0.1 / width, 1 - 0.22 / height, name, fontsize=10, weight="bold", color=INK)
    lines = [
        ("", [column.replace("_", " ") for column in columns]),
        *((g, [r[c] for c in columns]) for g, r in rows.items()),
    ]
    for number, (group, values) in enumerate(lines):
        y = 1 - (0.5 + 0.25 * number) / height
        figure.text(0.1 / width, y, group, fontsize=9, color=INK)
        for column, value in enumerate(values):
            x = (1.2 + 1.1 * column + 0.95) / width
            figure.text(x, y, value, fontsize=9, ha="right", color=INK if number else SOFT)
    return figure
