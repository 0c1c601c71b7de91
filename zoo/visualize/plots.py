"""Lines over steps as a drawing: axes with round numbers, a line for each series, its best point, a legend."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from zoo.visualize.drawing import SMALL, STYLES, TINY, Drawing, Point, Spot
from zoo.visualize.letters import Letters
from zoo.visualize.renderers.figure import flow

WIDTH, HEIGHT = 424, 232  # Pixels of a plot
LEFT, RIGHT, TOP, BOTTOM = 54, 22, 44, 38  # Its margins: numbers, numbers of runs, title and legend, steps
PAD = 0.16  # Room above and below the lines, as a share of their height
TICKS = 5  # The most numbers of an axis
LOG_FROM = 20.0  # The ratio of the largest to the smallest value from which a logarithmic axis is used
NEAR = 14  # Pixels between the ends of two lines whose numbers would touch
LINE, SAMPLE, GAP = 21, 22, 22  # Pixels: a line of the legend, the sign of an entry, between two entries
COLOURS = sum(kind.startswith("curve ") for kind in STYLES)  # Colours of runs in theme.toml; later runs repeat them


def kind(number: int) -> str:
    """The kind of line of run `number`, counted from 1."""
    return f"curve {(number - 1) % COLOURS + 1}"


@dataclass(frozen=True)
class Line:
    """A series to be drawn."""

    kind: str  # One of the STYLES
    points: Sequence[Point]  # Steps and values; the line is broken at values that are not finite
    label: str = ""  # The entry in the legend of the plot
    marked: bool = False  # The points are marked by discs, if there are few
    best: tuple[int, float] | None = None  # The best point, whose value is written above or below it
    highest: bool = False  # The best point is the highest one, not the lowest
    name: str = ""  # The name of the run, shown on a page beside the best point


@dataclass(frozen=True)
class Plot:
    """Lines with common axes."""

    title: str
    lines: Sequence[Line]
    may_be_log: bool = False  # The axis is logarithmic if values differ much and are all positive
    from_zero: bool = False  # The axis begins at 0


class Axis:
    """Maps values to pixels, from `low` to `high`."""

    def __init__(self, low: float, high: float, begin: float, end: float, *, log: bool = False) -> None:
        self.log, self.low, self.high = log, low, high
        self._begin, self._length = begin, end - begin

    def place(self, value: float) -> float:
        low, high, value = map(math.log10, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return self._begin + self._length * (value - low) / (high - low)

    def ticks(self) -> list[float]:
        """The round numbers of the axis."""
        return log_ticks(self.low, self.high) if self.log else ticks(self.low, self.high)


def ticks(low: float, high: float, most: int = TICKS) -> list[float]:
    """Return at most `most` multiples of 1, 2 or 5 times a power of ten from `low` to `high`."""
    unit = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (unit, 2 * unit, 5 * unit, 10 * unit, 20 * unit):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def log_ticks(low: float, high: float, most: int = TICKS) -> list[float]:
    """Return powers of ten from `low` to `high`, with 2 and 5 times those where there is room."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors, every in (((1, 2, 5), 1), ((1, 3), 1), *(((1,), step) for step in range(1, len(exponents) + 1))):
        values = [factor * 10.0**exponent for exponent in exponents[::every] for factor in factors]
        found = [float(f"{value:.6g}") for value in values if low <= value <= high]
        if len(found) <= most:
            return found
    return []


def number_text(value: float) -> str:
    """Return a value of an axis: 12,000 or 0.05 or 1e-05."""
    return f"{value:,.10g}" if abs(value) >= 1 else f"{value:.4g}"


def draw_plot(plot: Plot, letters: Letters) -> Drawing:
    """Return the drawing of a plot, WIDTH times HEIGHT pixels."""
    sheet = Drawing(WIDTH, HEIGHT)
    known = [point for line in plot.lines for point in line.points if math.isfinite(point[1])]
    across, up = _axes(plot, known)
    sheet.write(LEFT, 12, plot.title + (" (logarithmic)" if up.log else ""), SMALL, "ink", bold=True)
    _write_labels(sheet, plot, letters)
    bottom = HEIGHT - BOTTOM
    for value in up.ticks() if known else ():
        y = up.place(value)
        sheet.line("rules", [(LEFT, y), (WIDTH - RIGHT, y)])
        sheet.write(LEFT - 8, y + 3.5, number_text(value), TINY, "soft", side="right")
    sheet.line("axes", [(LEFT, bottom), (WIDTH - RIGHT, bottom)])
    if not known:
        sheet.write((LEFT + WIDTH - RIGHT) / 2, (TOP + bottom) / 2, "no finite values", SMALL, "faint", side="center")
        return sheet
    for value in across.ticks():
        x = across.place(value)
        sheet.line("axes", [(x, bottom), (x, bottom + 4)])
        sheet.write(x, bottom + 16, number_text(value), TINY, "soft", side="center")
    sheet.write(WIDTH - RIGHT, bottom + 31, "step", TINY, "soft", side="right")
    for line in plot.lines:
        _draw_line(sheet, line, across, up)
    if len(plot.lines) > 1 and not any(line.label for line in plot.lines):
        _write_numbers(sheet, plot.lines, across, up)
    return sheet


def _axes(plot: Plot, known: Sequence[Point]) -> tuple[Axis, Axis]:
    values = [y for _, y in known] or [0.0]
    low, high = min(values), max(values)
    log = plot.may_be_log and low > 0 and high / low >= LOG_FROM
    if log:
        pad = (high / low) ** PAD
        low, high = low / pad, high * pad
    else:
        pad = PAD * (high - low) or 0.05 * abs(high) or 0.5
        low, high = (min(0.0, low) if plot.from_zero else low - pad), high + pad
    steps = [x for x, _ in known] or [0.0]
    bottom = HEIGHT - BOTTOM
    across = Axis(0.0, max(*steps, 1.0), LEFT + 4, WIDTH - RIGHT)
    return across, Axis(low, high, bottom, TOP, log=log)


def _draw_line(sheet: Drawing, line: Line, across: Axis, up: Axis) -> None:
    for finite, group in groupby(line.points, key=lambda point: math.isfinite(point[1])):
        if not finite:
            continue
        places = [(across.place(x), up.place(y)) for x, y in group]
        if len(places) > 1:
            sheet.line(line.kind, places)
        few = len(line.points) <= 30 and line.marked
        for x, y in places if few or len(places) == 1 else ():
            sheet.disc("points", x, y, 2.4, fill=_colour(line.kind))
    if line.best is not None:
        step, value = line.best
        x, y = across.place(step), up.place(value)
        sheet.disc("rings", x, y, 4.5)
        facts = [*filter(None, [line.name]), f"best {value:.4g}", f"step {step:,}"]
        sheet.spots.append(Spot(x, y, facts, {"value": f"{value:.6g}", "step": str(step)}))
        if line.label:  # a single run has room for the number
            side = "right" if x > WIDTH - RIGHT - 24 else "center"
            sheet.write(x, y - 9 if line.highest else y + 15, f"{value:.4g}", TINY, "ink", side=side)


def _write_numbers(sheet: Drawing, lines: Sequence[Line], across: Axis, up: Axis) -> None:
    """Write the number of each run at the end of its line."""
    ends: dict[float, list[tuple[float, int]]] = {}  # the lines that end at about the same step
    for number, line in enumerate(lines, 1):
        if finite := [point for point in line.points if math.isfinite(point[1])]:
            x, y = across.place(finite[-1][0]), up.place(finite[-1][1])
            near = next((other for other in ends if abs(other - x) < NEAR), x)
            ends.setdefault(near, []).append((y, number))
    for x, group in ends.items():
        for y, number in spread(group, HEIGHT - BOTTOM):
            sheet.write(x + 8, y + 3.5, str(number), TINY, _colour(lines[number - 1].kind), bold=True)


def _colour(kind: str) -> str:
    return STYLES[kind].stroke


def spread(ends: Sequence[tuple[float, int]], bottom: float, apart: float = 11.0) -> Iterator[tuple[float, int]]:
    """Move numbers of runs apart that would be drawn over each other, and none below `bottom`."""
    placed, lowest = list[tuple[float, int]](), -math.inf
    for y, number in sorted(ends):
        placed.append((max(y, lowest), number))
        lowest = placed[-1][0] + apart
    for y, number in reversed(placed):
        yield min(y, bottom), number
        bottom = min(y, bottom) - apart


def _write_labels(sheet: Drawing, plot: Plot, letters: Letters) -> None:
    """Write the legend of a plot under its title."""
    x = float(LEFT)
    for line in plot.lines:
        if line.label:
            sheet.line(line.kind, [(x, 26), (x + 16, 26)])
            sheet.write(x + SAMPLE, 30, line.label, TINY)
            x += SAMPLE + letters.width(line.label, TINY) + 14


def legend(names: Sequence[str], room: float, letters: Letters) -> Drawing:
    """Return the numbers, colours and names of several runs, as many in a line as fit into `room` pixels."""
    texts = [letters.cut(f"{number}  {name}", room - SAMPLE, SMALL) for number, name in enumerate(names, 1)]
    widths = [SAMPLE + letters.width(text, SMALL) for text in texts]
    sheet, lines = Drawing(room), 0
    for number, (text, (line, x)) in enumerate(zip(texts, flow(widths, room, GAP), strict=True), 1):
        y, lines = 12 + LINE * line, line + 1
        sheet.line(kind(number), [(x, y - 4), (x + 16, y - 4)])
        sheet.write(x + SAMPLE, y, text, SMALL, "ink")
    sheet.height = LINE * lines + 12
    return sheet
