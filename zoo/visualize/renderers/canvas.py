"""Turn a drawing into a matplotlib figure, and write it to a file.

No pyplot is used, so that drawing needs no display and leaves no state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import BoxStyle
from matplotlib.path import Path as Outline
from matplotlib.text import Text

from zoo.visualize.drawing import PALETTE, SHADES, STYLES, Cells, Drawing, Shape
from zoo.visualize.texts.letters import DPI, PIXELS, Letters, missing_letters_silent

ATTENTION = LinearSegmentedColormap.from_list("attention", SHADES)
SIGNED = LinearSegmentedColormap.from_list("signed", (PALETTE["true"], SHADES[0], PALETTE["ink"]))


def save_picture(figure: Figure, path: Path | str) -> Path:
    """Write `figure` to `path` in the format of its ending, and make its folder."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    quick: dict[str, Any] = {"pil_kwargs": {"compress_level": 2}} if path.suffix == ".png" else {}
    with missing_letters_silent():
        figure.savefig(path, dpi=figure.dpi, **quick)
    return path


def painted(drawing: Drawing, letters: Letters) -> Figure:
    """Return the figure of a drawing.

    Every kind of shape is one collection whose gid is the kind, since one artist per shape takes most of the time.
    """
    size = (drawing.width / PIXELS, drawing.height / PIXELS)
    figure = Figure(figsize=size, dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.set_axis_off()
    for part in drawing.pictures:
        axes.imshow(part.pixels, extent=_extent(part), aspect="auto", zorder=0)
    for cells in drawing.cells:
        _paint_cells(axes, cells)
    for level, kind in enumerate(STYLES, 1):
        if shapes := drawing.shapes.get(kind):
            made = _collection(kind, shapes)
            made.set(gid=kind, zorder=level, transform=axes.transData)
            axes.add_collection(made, autolim=False)
    for label in drawing.labels:
        font = FontProperties(
            family=letters.families, size=label.size * 72 / PIXELS, weight="bold" if label.bold else "normal"
        )
        color = PALETTE.get(label.color, label.color)
        text = Text(
            label.x,
            label.y,
            label.text,
            fontproperties=font,
            color=color,
            ha=label.side,
            va="baseline",
            parse_math=False,
        )
        text.set(rotation=label.turned, rotation_mode="anchor", transform=axes.transData, zorder=len(STYLES) + 1)
        figure.add_artist(text)  # axes would cut off what reaches over their edge
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    return figure


def _extent(part: Any) -> tuple[float, float, float, float]:
    return part.left, part.left + part.width, part.top + part.height, part.top


def _paint_cells(axes: Any, cells: Cells) -> None:
    rows, columns = cells.values.shape
    colours, least = (SIGNED, -cells.most) if cells.signed else (ATTENTION, 0.0)
    if cells.gap:
        x = np.linspace(cells.left, cells.left + cells.width, columns + 1)
        y = np.linspace(cells.top, cells.top + cells.height, rows + 1)
        axes.pcolormesh(
            x, y, cells.values, cmap=colours, vmin=least, vmax=cells.most, edgecolors="white", linewidth=0.5, zorder=0
        )
        return
    axes.imshow(
        cells.values,
        cmap=colours,
        vmin=least,
        vmax=cells.most,
        aspect="auto",
        interpolation="nearest",
        extent=_extent(cells),
        zorder=0,
    )


def _collection(kind: str, shapes: list[Shape]) -> Any:
    style = STYLES[kind]
    points = 72 / PIXELS
    if shapes[0].form == "line":
        dash: Any = "solid" if style.dash is None else (0, style.dash)
        stroke = PALETTE[style.stroke]
        lines: list[Any] = [shape.points for shape in shapes]
        return LineCollection(lines, colors=stroke, linewidths=style.width * points, linestyles=[dash])
    fills = [_color(shape.fill or style.fill) for shape in shapes]
    edge = _color(style.stroke)
    return PathCollection(
        [_outline(shape) for shape in shapes], facecolors=fills, edgecolors=edge, linewidths=style.width * points
    )


def _color(name: str) -> str:
    return PALETTE.get(name, name)


def _outline(shape: Shape) -> Outline:
    if shape.form == "disc":
        return Outline.circle(shape.points[0], shape.size[0])
    if shape.form == "area":
        return Outline([*shape.points, shape.points[0]], closed=True)
    (left, top), (width, height, corner) = shape.points[0], shape.size
    if corner:
        return BoxStyle.Round(pad=0, rounding_size=corner)(left, top, width, height, mutation_size=1.0)
    right, bottom = left + width, top + height
    return Outline([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], closed=True)
