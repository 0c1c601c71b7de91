"""Draws a line of handwriting, with the window on its letters above it: as a picture, as SVG that writes it stroke by
stroke, and in dots on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from zoo.predicting.handwriting import HandwritingPrediction
from zoo.visualize.blocks import Block
from zoo.visualize.drawing import PALETTE, SMALL, STYLES, TINY, Drawing, Point, Raster
from zoo.visualize.letters import Letters
from zoo.visualize.renderers import figure, page, terminal

WIDTH, LEFT = 740, 34  # Pixels of a picture, and of the names of letters in it
TALLEST, ROW, LEAST_ROW = 190, 13.0, 3.0  # Of the window, and of one of its rows
LINE_HIGH, UNIT = 130, 26.0  # The most pixels of a line, and of the height of an x in the generated letters
NAMED = 9.0  # The least height of a row with a name
FASTEST, LONGEST = 60, 12  # Points per second, and the most seconds in which a line is written
DOTS = 0x2800  # The first letter of Braille, in which each of 2 x 4 dots is a bit
BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
DOT_COLUMNS, DOT_ROWS = 150, 40  # The most dots of a line on a terminal


class TimedStroke(NamedTuple):
    """A stroke in pixels, with the time in which it is written in seconds."""

    kind: str  # The style by which it is painted
    points: list[Point]
    begin: float
    seconds: float


@dataclass(frozen=True)
class HandwrittenLine(Block):
    """A line, and above it a row for each letter: dark where the window looked when each point was written."""

    line: HandwritingPrediction
    letters: Sequence[int] | None = None  # The true letter of each point, where it is known

    @property
    def attended(self) -> bool:
        return bool(self.line.places)


def drawn(block: HandwrittenLine, width: float = WIDTH) -> tuple[Drawing, list[TimedStroke]]:
    """The window and the letters as a drawing, and the strokes, which are not in it."""
    line = block.line
    sheet = Drawing(width, 0.0, f"a line of handwriting: {line.text}" if line.text else "a line of handwriting")
    top = _window(sheet, block, width) if block.attended else 0.0
    points = np.concatenate(line.strokes)
    low, high = points.min(0), points.max(0)
    across, up = np.maximum(high - low, 1e-9)
    scale = min((width - LEFT - 8) / across, LINE_HIGH / up)
    bottom = top + 10 + up * scale

    def put(point: Any) -> Point:
        return LEFT + float((point[0] - low[0]) * scale), float(bottom - (point[1] - low[1]) * scale)

    rate, at, strokes = max(FASTEST, len(points) / LONGEST), 0, []
    for stroke in line.strokes:
        kind = "given pen" if 0 < line.given < line.points and at + len(stroke) - 1 <= line.given else "pen"
        placed = [put(point) for point in stroke]
        if len(placed) == 1:  # a dot
            placed = [placed[0], (placed[0][0] + 0.8, placed[0][1])]
        strokes.append(TimedStroke(kind, placed, at / rate, max(len(stroke) - 1, 1) / rate))
        at += len(stroke)
    if block.attended:
        places = np.array([line.places[0], *line.places])  # the first point has no offset
        for position in dict.fromkeys(line.places):
            x = LEFT + float((points[places == position, 0].mean() - low[0]) * scale)
            sheet.write(x, bottom + 15, line.text[position], TINY, "soft", side="center")
    sheet.height = bottom + (20 if block.attended else 4)
    return sheet, strokes


def _window(sheet: Drawing, block: HandwrittenLine, width: float) -> float:
    """Draw the window at the top of a sheet. Returns its lower end."""
    weights = block.line.window
    assert weights is not None
    length, count = weights.shape
    row = max(LEAST_ROW, min(ROW, TALLEST / count))
    wide, high = width - LEFT - 8, row * count
    shares = weights / weights.max(1, keepdims=True).clip(1e-12)
    sheet.rasters.append(Raster(LEFT, 2, wide, high, shares.T.astype(float)))
    sheet.box("frames", LEFT, 2, wide, high)
    for number, letter in enumerate(block.line.text if row >= NAMED else ""):
        sheet.write(LEFT - 7, 2 + (number + 0.78) * row, letter, SMALL, "ink", side="right")
    if block.letters is not None:
        ends = [*np.flatnonzero(np.diff(block.letters)).tolist(), length - 1]
        begin = 0
        for end in ends:
            left, right = (LEFT + wide * place / length for place in (begin, end + 1))
            sheet.box("true", left, 2 + block.letters[end] * row, right - left, row)
            begin = end + 1
    return 2 + high + 8


def svg(lines: Sequence[HandwritingPrediction]) -> str:
    """A file in which lines are written stroke by stroke, one below the other."""
    made = [drawn(HandwrittenLine(line)) for line in lines]
    paint = {"paint": lambda name: PALETTE.get(name, name)}  # programs other than browsers know no variables
    return page.template("handwriting.svg").render(lines=made, width=WIDTH, STYLES=STYLES, alone=True, **paint)


# The renderers


@page.html.register
def _(block: HandwrittenLine) -> str:
    paint = {"paint": page.color}
    made = page.template("handwriting.svg").render(lines=[drawn(block)], width=WIDTH, STYLES=STYLES, **paint)
    return f'<div class="drawn still">{made}</div>'


@figure.fitted.register
def _(block: HandwrittenLine, letters: Letters, room: float) -> Drawing:
    sheet, strokes = drawn(block, max(room, WIDTH))
    for stroke in strokes:
        sheet.line(stroke.kind, stroke.points)
    return sheet


@terminal.lines.register
def _(block: HandwrittenLine, screen: terminal.Screen) -> Iterator[RenderableType]:
    if not screen.ascii_only:
        yield from map(Text, dots(block.line, 2 * screen.width))


def dots(line: HandwritingPrediction, columns: int) -> list[str]:
    """A line in letters of Braille."""
    points = np.concatenate(line.strokes)
    low, size = points.min(0), np.maximum(np.ptp(points, 0), 1e-9)
    scale = min((min(columns, DOT_COLUMNS) - 2) / size[0], (DOT_ROWS - 1) / size[1])
    wide, high = (int(one) // step + 1 for one, step in zip(size * scale, (2, 4), strict=True))
    grid = np.zeros((4 * high, 2 * wide), bool)
    for stroke in line.strokes:
        placed = (stroke - low) * scale
        for begin, end in zip(placed, placed[1:] if len(placed) > 1 else placed, strict=False):
            steps = np.linspace(begin, end, 2 + int(np.abs(end - begin).max()))
            grid[(size[1] * scale - steps[:, 1]).astype(int), steps[:, 0].astype(int)] = True
    cells = (grid.reshape(high, 4, wide, 2) * BITS[:, None]).sum((1, 3))
    return ["".join(chr(DOTS + cell) for cell in row).rstrip(chr(DOTS)) for row in cells.tolist()]
