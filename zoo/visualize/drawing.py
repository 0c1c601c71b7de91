"""A drawing as a list of shapes, lines and texts. A page writes the list as SVG, a figure as matplotlib collections.

All lengths are pixels, 96 to the inch; y grows downwards. Colours and styles are in theme.toml.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

Point = tuple[float, float]

THEME: dict[str, Any] = tomllib.loads(Path(__file__).with_name("theme.toml").read_text("utf-8"))
PALETTE: dict[str, str] = {name: colours[0] for name, colours in THEME["colours"].items()}  # Colours of pictures
SHADES = ("#f5f7fa", PALETTE["attention"], "#123a75")  # Colours of cells from no attention to full attention
TINY, SMALL, NORMAL, LARGE = 9.8, 11.3, 14.0, 20.0  # Sizes of letters


class Style(NamedTuple):
    """How one kind of shape or line is painted; colours are names of the PALETTE."""

    fill: str = "none"
    stroke: str = "none"
    width: float = 0.0
    dash: Sequence[float] | None = None


STYLES = {kind: Style(**style) for kind, style in THEME["styles"].items()}


class Key(NamedTuple):
    """The explanation of one sign."""

    sample: str = ""  # The sign: a name that `figure.SAMPLES` draws, or empty for a text without a sample
    short: str = ""  # Words beside the sample at the foot of a picture; without them the picture has no such key
    long: str = ""  # A sentence at the top of a page; without it the page has no such sentence


class Shape(NamedTuple):
    """A disc, a box or a line, which is the edge of an area if its kind is filled."""

    points: Sequence[Point]  # The centre of a disc, the left upper corner of a box, or the points of a line
    size: tuple[float, ...] = ()
    """The radius of a disc; the width and the height of a box, and the radius of its corners if they are round."""
    fill: str | None = None  # A name of the PALETTE or a colour, in place of the fill of its kind


class Label(NamedTuple):
    """A text on its baseline."""

    x: float
    y: float
    text: str
    size: float
    color: str
    bold: bool
    side: str  # `left`: the text begins at x; `center`; `right`: it ends at x
    turned: float  # Degrees, counter-clockwise around (x, y)


class Raster(NamedTuple):
    """A grid of numbers as coloured cells, or an image, which only figures draw."""

    left: float
    top: float
    width: float
    height: float
    values: NDArray[Any]  # (R, C) numbers, where NaN leaves a cell empty, or (H, W, 3) bytes of an image
    most: float = 1.0  # The value with full colour
    signed: bool = False
    """True: black is positive and orange negative. False: values from 0, in the colours of attention."""
    gap: bool = False  # White lines separate the cells


class Spot(NamedTuple):
    """A place that a reader of a page can point at, with the facts that it then shows."""

    x: float
    y: float
    facts: Sequence[str]
    data: Mapping[str, str]  # Attributes for programs that read the page: label="good" becomes data-label="good"


@dataclass
class Drawing:
    """Everything that is drawn on an area of `width` times `height` pixels."""

    width: float
    height: float = 0.0
    spoken: str = ""  # A description for readers who cannot see the drawing
    shapes: dict[str, list[Shape]] = field(default_factory=lambda: defaultdict(list))
    labels: list[Label] = field(default_factory=list)
    rasters: list[Raster] = field(default_factory=list)  # Grids and images, behind everything else
    spots: list[Spot] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # Sentences under the drawing
    keys: list[Key] = field(default_factory=list)  # Explanations of the signs that are visible in this drawing

    def write(
        self,
        x: float,
        y: float,
        text: str,
        size: float = SMALL,
        color: str = "soft",
        *,
        bold: bool = False,
        side: str = "left",
        turned: float = 0.0,
    ) -> None:
        if text:
            self.labels.append(Label(x, y, text, size, color, bold, side, turned))

    def disc(self, kind: str, x: float, y: float, radius: float, fill: str | None = None) -> None:
        self.shapes[kind].append(Shape([(x, y)], (radius,), fill))

    def box(self, kind: str, left: float, top: float, *size: float, fill: str | None = None) -> None:
        self.shapes[kind].append(Shape([(left, top)], size, fill))

    def line(self, kind: str, points: Sequence[Point]) -> None:
        self.shapes[kind].append(Shape(points))

    def place(self, other: Drawing, left: float, top: float) -> None:
        """Copy the visible parts of another drawing to (`left`, `top`)."""
        for kind, shapes in other.shapes.items():
            for shape in shapes:
                self.shapes[kind].append(shape._replace(points=[(x + left, y + top) for x, y in shape.points]))
        self.labels += [label._replace(x=label.x + left, y=label.y + top) for label in other.labels]
        self.rasters += [part._replace(left=part.left + left, top=part.top + top) for part in other.rasters]
        self.notes += other.notes
        self.keys += other.keys


def mixed(one: str, other: str, share: float) -> str:
    """Mix two colours, each a name of the PALETTE or #rrggbb; `share` is that of the second one, from 0 to 1."""
    parts = zip(*(bytes.fromhex(PALETTE.get(color, color)[1:]) for color in (one, other)), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)
