"""A confusion matrix as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from zoo.visualize.drawing import BLUE, DPI, INK, LINE, SOFT
from zoo.visualize.fonts import families
from zoo.visualize.printable import shortened

SHADES = LinearSegmentedColormap.from_list("white to blue", ["#ffffff", "#cfe1fb", BLUE, "#1d4f9c", "#0f2c5c"])
MOST_NUMBERED = 25
"""Up to this many classes the counts stand in the cells."""
LONGEST_NAME = 28
DARK = 0.58
"""From this share on, white numbers read better than black ones."""


def confusion_figure(matrix: Any, classes: Sequence[str]) -> Figure:
    """The picture of `matrix` (C, C), counts of true class (row) by predicted class (column).

    Rows are shaded by their share of the true class, so that rare classes show; the counts stand in the cells. A class
    without examples has a white row. No pyplot, so drawing needs no display and leaves no state behind.
    """
    counts = np.asarray(matrix)
    if counts.shape != (len(classes), len(classes)):
        raise ValueError(f"a confusion matrix of {len(classes)} classes is square of that size, got {counts.shape}")
    totals = counts.sum(1, keepdims=True)
    shares = counts / np.maximum(totals, 1)
    numbered = len(classes) <= MOST_NUMBERED
    side = min(max(3.0, 0.62 * len(classes)), 14.0) if numbered else 12.0
    names = [shortened(name, LONGEST_NAME) for name in classes]

    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
    figure = Figure(figsize=(side + 2.2, side + 1.2), dpi=DPI, facecolor="white", layout=layout)
    axes = figure.add_subplot()
    image = axes.imshow(shares, cmap=SHADES, vmin=0, vmax=1)
    if numbered:
        size = 10 if counts.max(initial=0) < 10_000 else 7
        for (row, column), count in np.ndenumerate(counts):
            color = "white" if shares[row, column] > DARK else INK if count else "#c3c9d2"
            axes.text(column, row, f"{int(count)}", ha="center", va="center", color=color, fontsize=size)
    ticks = range(len(classes)) if len(classes) <= 60 else range(0, len(classes), len(classes) // 30)
    slanted = max(map(len, names), default=0) > 6
    tick_names = [names[i] for i in ticks]
    axes.set_xticks(
        ticks, tick_names, rotation=40 if slanted else 0, ha="right" if slanted else "center", parse_math=False
    )
    axes.set_yticks(ticks, tick_names, parse_math=False)
    axes.tick_params(length=0, labelsize=9.5, labelcolor=INK, labelfontfamily=list(families(names)))
    axes.set_xticks(np.arange(len(classes) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(classes) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=LINE, linewidth=0.8)
    axes.tick_params(which="minor", length=0)
    for spine in axes.spines.values():
        spine.set_color(LINE)
    axes.set_xlabel("predicted class", color=SOFT)
    axes.set_ylabel("true class", color=SOFT)
    total = int(totals.sum())
    right = int(np.trace(counts))
    if total:
        axes.set_title(
            f"{right:,} of {total:,} right ({right / total:.1%})", loc="left", fontsize=11, color=INK, pad=10
        )
    bar = figure.colorbar(image, ax=axes, shrink=0.7, pad=0.02, format="{x:.0%}")
    bar.set_label("share of the true class", color=SOFT)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=8.5, labelcolor=SOFT)
    return figure
