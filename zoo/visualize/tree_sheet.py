"""The paper of pictures of trees: fonts, signs, and one collection for each kind of what is drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Circle, Polygon
from matplotlib.text import Text

from zoo.visualize.drawing import DPI, FAINT, LINE, SOFT
from zoo.visualize.fonts import families
from zoo.visualize.printable import shown
from zoo.visualize.tree_layout import Point
from zoo.visualize.tree_marks import Mark

BRANCH = "#98a2b0"
"""Of edges and rims."""


@cache
def _renderer() -> Any:
    return FigureCanvasAgg(Figure(dpi=DPI)).get_renderer()


class Letters:
    """Texts of the picture in the fonts that have them."""

    def __init__(self, texts: Iterator[str]) -> None:
        self.families = list(families(texts))
        self._widths: dict[tuple[str, float, str], float] = {}

    def font(self, size: float, weight: str = "normal") -> FontProperties:
        return FontProperties(family=self.families, size=size, weight=weight)

    def width(self, text: str, size: float, weight: str = "normal") -> float:
        """Inches, as the Agg canvas draws it; each text is measured once."""
        key = (text, size, weight)
        if key not in self._widths:
            measured = _renderer().get_text_width_height_descent(text, self.font(size, weight), False)
            self._widths[key] = measured[0] / DPI
        return self._widths[key]

    def cut(
        self,
        text: str,
        most: float,
        size: float,
        weight: str = "normal",
        among: Iterable[str] = (),
        *,
        end: bool = False,
    ) -> str:
        """`text` fit to be shown, ending in an ellipsis where it is wider than `most` inches; beginning in it where
        another text `among` those that it must be told from begins alike, or as asked by `end`."""
        text = shown(text[-200:] if end else text[:200])
        if self.width(text, size, weight) <= most:
            return text

        def part(letters: int) -> str:
            return "…" + text[len(text) - letters :] if end else text[:letters] + "…"

        fits, too_long = 0, len(text)
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            fits, too_long = (middle, too_long) if self.width(part(middle), size, weight) <= most else (fits, middle)
        if any(shown(other) != text and shown(other).startswith(text[:fits]) for other in among):
            return self.cut(text, most, size, weight, end=True)
        return part(fits)

    def wrapped(self, text: str, most: float, size: float) -> list[str]:
        """`text` fit to be shown, in lines of at most `most` inches; a longer word is cut."""
        lines = [""]
        for word in shown(text).split():
            fitting = self.cut(word, most, size)
            longer = f"{lines[-1]} {fitting}".lstrip()
            if self.width(longer, size) <= most:
                lines[-1] = longer
            else:
                lines.append(fitting)
        return lines


STROKES: dict[str, tuple[str, float, Any]] = {
    "edges": (BRANCH, 1.1, "solid"),
    "drops": (FAINT, 0.7, (0, (1.0, 2.2))),
    "unknown": (FAINT, 1.3, (0, (1.0, 1.6))),
    "rules": (LINE, 0.8, "solid"),
}
"""Colour, width and style of each kind of line."""
ORDER = (
    *("rules", "tracks", "bars", "halos", "gaps", "drops", "edges"),
    *("folds", "evidence", "nodes", "true", "unknown"),
)
"""Kinds of what is drawn, the later above the earlier."""
POINTS = (62, 52, 42)
"""The size of a sign of one, two or three letters, in a disc of an inch."""


class Sheet:
    """What is drawn, kept by its kind: of each kind one collection is made, whose gid is the kind."""

    def __init__(self, width: float, height: float, letters: Letters) -> None:
        self.letters, self.width = letters, width
        self.figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        self.axes.set_axis_off()
        self._shapes: dict[str, list[tuple[Any, str, str, float]]] = defaultdict(list)
        self._lines: dict[str, list[Sequence[Point]]] = defaultdict(list)

    def write(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 8.5,
        color: str = SOFT,
        *,
        weight: str = "normal",
        side: str = "left",
        turned: float = 0.0,
    ) -> None:
        """`text` from `x` on, around it or up to it, on the baseline `y`."""
        font, place = self.letters.font(size, weight), self.axes.transData
        made = Text(x, y, text, fontproperties=font, color=color, ha=side, va="baseline", parse_math=False)
        made.set(rotation=turned, rotation_mode="anchor", transform=place, zorder=20)
        self.figure.add_artist(made)

    def sign(self, x: float, y: float, mark: Mark, radius: float) -> None:
        """The sign of a class in its disc; + and − are lower in their line than digits and letters."""
        size = radius * POINTS[min(len(mark.sign), len(POINTS)) - 1]
        middle = 0.314 if set(mark.sign) <= {"+", "-"} else 0.364
        self.write(x, y + middle * size / 72, mark.drawn, size, mark.ink, weight="bold", side="center")

    def disc(
        self, kind: str, x: float, y: float, radius: float, color: str, edge: str = "none", line: float = 0
    ) -> None:
        self._shapes[kind].append((Circle((x, y), radius), color, edge, line))

    def shape(self, kind: str, corners: Sequence[Point], color: str) -> None:
        self._shapes[kind].append((Polygon(corners, closed=True), color, "none", 0))

    def bar(self, kind: str, left: float, top: float, width: float, height: float, color: str) -> None:
        right, bottom = left + width, top + height
        self.shape(kind, [(left, top), (right, top), (right, bottom), (left, bottom)], color)

    def line(self, kind: str, points: Sequence[Point]) -> None:
        self._lines[kind].append(points)

    def finish(self) -> Figure:
        """The figure with all that was kept."""
        for level, kind in enumerate(ORDER, 1):
            made: Any = None
            if kind in self._lines:
                color, width, style = STROKES[kind]
                made = LineCollection(self._lines[kind], colors=color, linewidths=width, linestyles=[style])
            elif kind in self._shapes:
                shapes, colors, edges, lines = zip(*self._shapes[kind], strict=True)
                made = PatchCollection(shapes, facecolors=colors, edgecolors=edges, linewidths=lines)
            if made is not None:
                made.set(gid=kind, zorder=level)
                self.axes.add_collection(made, autolim=False)
        return self.figure
