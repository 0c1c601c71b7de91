"""A sequence of bits as a picture, as in the figures of Graves et al. 2014: time from left to right, what was read,
what should have been written and what was, and below it what was done to the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from zoo.visualize.bits_memory import VECTORS, WEIGHTINGS, Panel, memory_at_the_end, panels
from zoo.visualize.bits_text import verdict
from zoo.visualize.drawing import ATTENTION, DPI, FAINT, INK, ORANGE, RIGHT, SOFT, WRONG

if TYPE_CHECKING:
    from zoo.tasks.algorithmic import BitPrediction

CELL, LEFT, EDGE, GAP, HEAD, FOOT = 0.11, 0.75, 0.2, 0.12, 0.45, 0.45
"""Inches: the side of a cell, left and right of the panels, between, above and below them."""
NARROWEST, WIDEST, HIGHEST = 3.0, 13.0, 2.6
"""Inches of a panel."""
MOST_NUMBERS = 6
"""Of the rows of a memory."""
SIGNED = LinearSegmentedColormap.from_list("signed", (ORANGE, ATTENTION[0], INK))
SHADES = LinearSegmentedColormap.from_list("attention", ATTENTION)


def bits_figure(prediction: BitPrediction) -> Figure:
    """Panels over time, one below the other: input, target where it is known, output as the probability of a 1 with its
    wrong bits framed, and of each head the erase and the add vector and the weightings over the rows of the memory that
    are in use; beside the first weighting what these rows hold at the end.

    Black is 1, or the strongest, and orange below 0. No pyplot, so drawing needs no display and leaves no state behind.
    """
    drawn, memory = [*_bits(prediction), *panels(prediction)], memory_at_the_end(prediction)
    steps = min(max(CELL * len(prediction.inputs), NARROWEST), WIDEST)
    heights = [min(max(CELL * len(panel.values), 2 * CELL), HIGHEST) for panel in drawn]
    beside = next((n for n, panel in enumerate(drawn) if panel.of in WEIGHTINGS), None) if memory is not None else None
    columns = CELL * memory.values.shape[1] if memory is not None and beside is not None else 0.0
    width = LEFT + steps + (LEFT + columns if columns else 0.0) + EDGE
    height = HEAD + sum(heights) + GAP * (len(heights) - 1) + FOOT
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    top = height - HEAD
    for number, (panel, high) in enumerate(zip(drawn, heights, strict=True)):
        top -= high
        axes = figure.add_axes((LEFT / width, top / height, steps / width, high / height))
        _draw(axes, panel, last=number == len(drawn) - 1)
        if panel.of == "output" and prediction.wrong is not None:
            _frame(axes, _at(prediction.scored, prediction.wrong).T > 0)
        if number == beside and memory is not None:
            left = (2 * LEFT + steps) / width
            _draw_memory(figure.add_axes((left, top / height, columns / width, high / height)), memory)
        top -= GAP
    if said := verdict(prediction):
        color = WRONG if prediction.error_bits else RIGHT
        figure.text(LEFT / width, 1 - 0.28 / height, said, fontsize=9, weight="bold", color=color)
    return figure


def _bits(prediction: BitPrediction) -> list[Panel]:
    scored = prediction.scored
    target = [] if prediction.targets is None else [Panel("target", _at(scored, prediction.targets).T)]
    output = Panel("output", _at(scored, prediction.probabilities).T)
    return [Panel("input", prediction.inputs.T), *target, output]


def _at(scored: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """(T, O) `values` (S, O) at the scored steps, NaN at the others."""
    whole = np.full((len(scored), values.shape[1]), np.nan)
    whole[scored] = values
    return whole


def _draw(axes: Axes, panel: Panel, *, last: bool) -> None:
    _cells(axes, panel)
    axes.set_ylabel(panel.name, fontsize=8, color=INK, rotation=0, ha="right", va="center")
    axes.tick_params(labelbottom=last)
    if last:
        axes.set_xlabel("step", fontsize=8, color=SOFT)
        axes.locator_params(axis="x", integer=True)


def _draw_memory(axes: Axes, memory: Panel) -> None:
    _cells(axes, memory)
    axes.set_title(memory.name, fontsize=8, color=INK)
    axes.set_xticks([])


def _cells(axes: Axes, panel: Panel) -> None:
    """The numbers as cells; some of the rows of a memory have their numbers beside them."""
    count, steps = panel.values.shape
    shades, least, most = _shades(panel)
    extent = (-0.5, steps - 0.5, count - 0.5, -0.5)
    axes.imshow(panel.values, cmap=shades, vmin=least, vmax=most, aspect="auto", interpolation="nearest", extent=extent)
    axes.tick_params(labelsize=6, colors=FAINT, length=2)
    places = range(0, len(panel.rows), max(1, -(-len(panel.rows) // MOST_NUMBERS)))
    axes.set_yticks(places, [str(panel.rows[place]) for place in places])
    for side in axes.spines.values():
        side.set_color(FAINT)


def _shades(panel: Panel) -> tuple[Colormap, float, float]:
    """The colours of a panel, and the least and the most of them."""
    if panel.of in (*WEIGHTINGS, VECTORS[0]):
        return SHADES, 0.0, 1.0
    most = max(1.0, float(np.nanmax(np.abs(panel.values), initial=0.0)))
    return SIGNED, -most, most


def _frame(axes: Axes, wrong: NDArray[Any]) -> None:
    """A frame around each wrong bit (O, T)."""
    frames = [Rectangle((x - 0.5, y - 0.5), 1, 1) for y, x in np.argwhere(wrong).tolist()]
    if frames:
        collection = PatchCollection(frames, facecolors="none", edgecolors=WRONG, linewidths=0.8)
        axes.add_collection(collection, autolim=False)
