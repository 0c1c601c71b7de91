"""Turn a drawing into a matplotlib figure, and write it to a file.

No pyplot is used, so that drawing needs no display and leaves no state.
"""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import BoxStyle
from matplotlib.path import Path as Outline
from matplotlib.text import Text

from zoo.visualize.drawing import PALETTE, SHADES, STYLES, Drawing, Shape
from zoo.visualize.letters import DPI, PIXELS, Letters, missing_letters_silent

POINTS = 72 / PIXELS
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
    """Return the figure of a drawing. All shapes of a kind are one collection, since artists take most of the time."""
    figure = Figure(figsize=(drawing.width / PIXELS, drawing.height / PIXELS), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    for part in drawing.rasters:
        right, bottom = part.left + part.width, part.top + part.height
        colours, least = (SIGNED, -part.most) if part.signed else (ATTENTION, 0.0)
        shades: dict[str, Any] = {"cmap": colours, "vmin": least, "vmax": part.most, "zorder": 0}
        if part.gap:
            rows, columns = part.values.shape
            x, y = np.linspace(part.left, right, columns + 1), np.linspace(part.top, bottom, rows + 1)
            axes.pcolormesh(x, y, part.values, edgecolors="white", linewidth=0.5, **shades)
        else:  # images are smoothed, and have colours of their own
            shades |= {"interpolation": "nearest" if part.values.ndim == 2 else None, "aspect": "auto"}
            axes.imshow(part.values, extent=(part.left, right, bottom, part.top), **shades)
    for level, kind in enumerate(STYLES, 1):
        if shapes := drawing.shapes.get(kind):
            made = _collection(kind, shapes)
            made.set(gid=kind, zorder=level, transform=axes.transData)
            axes.add_collection(made, autolim=False)
    for label in drawing.labels:
        text = Text(label.x, label.y, label.text, ha=label.side, va="baseline", parse_math=False)
        text.set(rotation=label.turned, rotation_mode="anchor", transform=axes.transData, zorder=len(STYLES) + 1)
        text.set(color=PALETTE.get(label.color, label.color), fontproperties=letters.font(label.size, label.bold))
        figure.add_artist(text)  # axes would cut off what reaches over their edge
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    return figure


def _collection(kind: str, shapes: list[Shape]) -> Any:
    style = STYLES[kind]
    stroke, width = PALETTE.get(style.stroke, style.stroke), style.width * POINTS
    if style.fill == "none" and not shapes[0].size:
        dash: Any = "solid" if style.dash is None else (0, style.dash)
        return LineCollection([[*shape.points] for shape in shapes], colors=stroke, linewidths=width, linestyles=[dash])
    fills = [PALETTE.get(name, name) for name in (shape.fill or style.fill for shape in shapes)]
    return PathCollection([*map(_outline, shapes)], facecolors=fills, edgecolors=stroke, linewidths=width)


def _outline(shape: Shape) -> Outline:
    if not shape.size:
        return Outline([*shape.points, shape.points[0]], closed=True)
    width, *others = shape.size
    if not others:
        return Outline.circle(shape.points[0], width)
    height, *corner = others
    box = BoxStyle.Round(pad=0, rounding_size=corner[0]) if corner else BoxStyle.Square(pad=0)
    return box(*shape.points[0], width, height, mutation_size=1.0)
