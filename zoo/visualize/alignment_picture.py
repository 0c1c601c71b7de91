"""A translation as a picture: which source token each target token was made from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from zoo.visualize.drawing import ATTENTION, DPI, FAINT, INK, ORANGE, SOFT
from zoo.visualize.fonts import families
from zoo.visualize.printable import shortened

if TYPE_CHECKING:
    from zoo.tasks.translation import Translated

CELL, LETTER, MARGIN = 0.24, 0.085, 0.2
"""Inches: a side of a cell, the width of a letter, the edge."""
LONGEST_WORD, MOST_CELLS = 16, 60
SHADES = LinearSegmentedColormap.from_list("attention", ATTENTION)


def alignment_figure(
    source: Sequence[str],
    translated: Translated,
    alignment: Sequence[tuple[int, int]] | None = None,
    *,
    unknown: Collection[int] = (),
) -> Figure:
    """A grid with a row for each token written and a column for each of the source; the darker, the more attention.

    `alignment` holds the true links (source, target), drawn as frames; `unknown`, positions of source tokens that the
    network does not know, drawn in brackets. At most MOST_CELLS rows and columns are shown.
    No pyplot, so drawing needs no display and leaves no state behind. Raises ValueError where there is no attention.
    """
    if translated.attention is None:
        raise ValueError("this network has no attention to draw")
    columns = [shortened(word, LONGEST_WORD) for word in source[:MOST_CELLS]]
    columns = [f"[{word}]" if number in unknown else word for number, word in enumerate(columns)]
    rows = [shortened(word, LONGEST_WORD) for word in translated.tokens[:MOST_CELLS]]
    weights = [row[: len(columns)] for row in translated.attention[: len(rows)]]
    left = MARGIN + LETTER * max(map(len, rows), default=1)
    top = MARGIN + 0.8 * LETTER * max(map(len, columns), default=1)
    width, height = left + CELL * len(columns) + MARGIN, top + CELL * len(rows) + MARGIN
    figure = Figure(figsize=(max(width, 2.0), max(height, 1.0)), dpi=DPI, facecolor="white")
    size = figure.get_size_inches()
    box = (left / size[0], MARGIN / size[1], CELL * len(columns) / size[0], CELL * len(rows) / size[1])
    axes = figure.add_axes(box, xlim=(0, max(len(columns), 1)), ylim=(max(len(rows), 1), 0))
    if rows and columns:
        axes.pcolormesh(weights, cmap=SHADES, vmin=0, vmax=1, edgecolors="white", linewidth=0.5)
    axes.set_xticks([x + 0.5 for x in range(len(columns))], columns, rotation=90, fontsize=8, color=INK)
    axes.set_yticks([y + 0.5 for y in range(len(rows))], rows, fontsize=8, color=INK)
    axes.tick_params(length=0, pad=3, top=True, labeltop=True, bottom=False, labelbottom=False)
    fonts = list(families([*columns, *rows]))
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set(parse_math=False, fontfamily=fonts)
    links = [Rectangle((x, y), 1, 1) for x, y in alignment or () if x < len(columns) and y < len(rows)]
    frames = PatchCollection(links, facecolors="none", edgecolors=ORANGE, linewidths=1.2)
    axes.add_collection(frames, autolim=False)
    for side in axes.spines.values():
        side.set_color(FAINT)
    notes = ["[ ] unknown to the network"] if any(number in unknown for number in range(len(columns))) else []
    if len(source) > MOST_CELLS or len(translated.tokens) > MOST_CELLS:
        notes.append(f"cut to {MOST_CELLS} tokens")
    figure.text(0.01, 0.01, ", ".join(notes), fontsize=7, color=SOFT)
    return figure
