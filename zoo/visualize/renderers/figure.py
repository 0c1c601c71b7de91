"""Draw the blocks of an answer as a picture, one below the other, with a key to the signs at the foot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from zoo.visualize.blocks import (
    Beside,
    Block,
    Classes,
    Drawn,
    Facts,
    Grid,
    Head,
    Key,
    Note,
    Ranked,
    Table,
    flat,
)
from zoo.visualize.drawing import Drawing, tint
from zoo.visualize.printable import shortened, shown
from zoo.visualize.renderers.canvas import painted
from zoo.visualize.renderers.parts import APART, LARGE, MARGIN, NARROWEST, NORMAL, SMALL, Part, fitted
from zoo.visualize.renderers.passage import LINE
from zoo.visualize.texts.letters import Letters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# pixels
ROW, CLASS_BAR, NUMBER, DISC, LONGEST_NAME = 19, 106, 38, 38, 250
"""Sizes of the classes: the height of a row, and the widths of a full bar, a number, a mark and the longest name."""
CLASSES_SHARE = 0.45
"""The largest share of the width that the classes take."""
MOST_CLASSES = 10
FOOT_LINE, LONGEST_NOTE = 21, 800


def draw(blocks: Sequence[Block]) -> Figure:
    """Return the picture of the blocks, as wide as the widest of them and as high as they need."""
    letters = Letters()
    parts = [part for block in blocks if (part := fitted(block, letters)) is not None]
    width = max([NARROWEST, *(part.width + 2 * MARGIN for part in parts)]) - 2 * MARGIN
    keys = [*(key for block in flat(blocks) for key in block.keys), *(key for part in parts for key in part.keys)]
    foot = _foot(letters, keys, [note for part in parts for note in part.notes], width)
    heights = [part.height(width) for part in parts]
    bottom = MARGIN + sum(heights) + APART * (len(parts) - 1)
    sheet = Drawing(width + 2 * MARGIN, bottom + APART + FOOT_LINE * len(foot) + 10 * bool(foot))
    y: float = MARGIN
    for part, height in zip(parts, heights, strict=True):
        part.draw(sheet, MARGIN, y, width)
        y += height + APART
    for number, line in enumerate(foot):
        for x, key in line:
            below = bottom + 34 + FOOT_LINE * number
            if key.sample:
                SAMPLES[key.sample](sheet, x + 10, below - 4)
            sheet.write(x + 27 * bool(key.sample), below, key.short)
    for label in sheet.labels:  # a text that was never measured still needs a font with its letters
        letters.width(label.text, label.size, label.bold)
    return painted(sheet, letters)


# Head


@fitted.register
def _(block: Head, letters: Letters) -> Part:
    classes = None if block.classes is None else _ClassBars(block.classes, letters)
    taken = 0.0 if classes is None else classes.width + APART

    def verdict(width: float) -> tuple[float, float, str]:
        """The place of the truth, beside the line under the answer if there is room, and the part of it that fits."""
        before, room = letters.width(_under(block), SMALL) + 19 * bool(_under(block)), width - taken
        if before + letters.width(block.verdict, SMALL, True) <= room:
            return before, 65, block.verdict
        name = block.truth[1] if block.truth else ""
        first = block.verdict.removesuffix(name)
        among = block.classes.probabilities if block.classes else ()
        left = room - letters.width(first, SMALL, True)
        return 0.0, 88, first + letters.cut(name, left, SMALL, True, among)

    def height(width: float) -> float:
        own = verdict(width)[1] + 4 if block.verdict else 68.0 if _under(block) else 44.0
        return max(own, 0.0 if classes is None else classes.height)

    def paint(sheet: Drawing, left: float, top: float, width: float) -> None:
        room = width - taken
        sheet.write(left, top + 10, letters.cut(block.above, room, SMALL))
        among = block.classes.probabilities if block.classes else ()
        sheet.write(
            left, top + 39, letters.cut(block.text or "(nothing)", room, LARGE, True, among), LARGE, "ink", bold=True
        )
        sheet.write(left, top + 65, letters.cut(_under(block), room, SMALL))
        if block.verdict:
            x, y, said = verdict(width)
            color = {True: "good", False: "wrong", None: "ink"}[block.right]
            sheet.write(left + x, top + y, said, SMALL, color, bold=True)
        if classes is not None:
            classes.draw(sheet, left + width, top)

    least = max(0.0 if classes is None else classes.width / CLASSES_SHARE, NARROWEST - 2 * MARGIN)
    return Part(least, height, paint, block.notes)


def _under(block: Head) -> str:
    probability = "" if block.probability is None else f"probability {block.probability:.2f}"
    return "  ".join(filter(None, [probability, block.under]))


class _ClassBars:
    """Names, bars and numbers of classes, to the right of the answer."""

    def __init__(self, classes: Classes, letters: Letters) -> None:
        self.classes, self.names = classes, classes.likeliest(MOST_CLASSES)
        every = classes.probabilities
        self.written = [letters.cut(name, LONGEST_NAME, SMALL, True, self.names) for name in self.names]
        left_out = len(every) - len(self.names)
        self.more = f"and {left_out:,} more" if left_out else ""
        widest = max((letters.width(name, SMALL, True) for name in [*self.written, self.more]), default=0.0)
        self.width = DISC * bool(classes.marks) + widest + 10 + CLASS_BAR + NUMBER
        self.height = (len(self.names) + bool(self.more)) * ROW

    def draw(self, sheet: Drawing, right: float, top: float) -> None:
        bar, every = right - NUMBER - CLASS_BAR, self.classes.probabilities
        for number, (name, written) in enumerate(zip(self.names, self.written, strict=True)):
            y, chosen = top + 10 + number * ROW, name == self.classes.chosen
            color = "ink" if chosen else "soft"
            sheet.write(bar - 10, y, written, SMALL, color, bold=chosen, side="right")
            sheet.box("tracks", bar, y - 9, CLASS_BAR, 10)
            sheet.box("bars", bar, y - 9, CLASS_BAR * every[name], 10, "ink" if chosen else "prob")
            sheet.write(right, y, f"{every[name]:.2f}", SMALL, color, bold=chosen, side="right")
            if mark := self.classes.marks.get(name):
                mark.draw(sheet, "nodes", right - self.width + 10, y - 4.3, 8)
        if self.more:
            y = top + 10 + len(self.names) * ROW
            rest = sum(share for name, share in every.items() if name not in self.names)
            sheet.write(bar - 10, y, self.more, side="right")
            sheet.write(right, y, f"{rest:.2f}", side="right")


# Grid

CELL, CELL_WIDTH = 23, 53
"""The sides of a cell; a cell with a number is wider."""
LONGEST_SENTENCE, LONGEST_TOKEN = 440, 140
MOST_SENTENCES, MOST_CELLS = 40, 60
DARK = 0.6
"""From this weight on, white numbers read better than black ones."""


@fitted.register
def _(block: Grid, letters: Letters) -> Part:
    most = MOST_SENTENCES if block.sentences else MOST_CELLS
    block = block.cut(most, MOST_CELLS)
    longest = LONGEST_SENTENCE if block.sentences else LONGEST_TOKEN
    rows, weights = [letters.cut(name, longest, SMALL) for name in block.rows], list(block.weights)
    columns = [letters.cut(name, LONGEST_TOKEN, SMALL) for name in block.columns]
    if block.rest is not None:
        rows, weights = [*rows, "(empty memory)"], [*weights, block.rest]
    texts = block.texts or ([[f"{weight:.2f}" for weight in row] for row in weights] if block.sentences else None)
    wide, tall = (CELL if texts is None else CELL_WIDTH), CELL
    names = max((letters.width(name, SMALL) for name in rows), default=0.0) + 8
    upright = all(letters.width(name, SMALL) <= wide - 4 for name in columns)
    above = 18 if upright else 10 + max((letters.width(name, SMALL) for name in columns), default=0.0)
    asked = LINE * bool(block.asked)

    def paint(sheet: Drawing, left: float, top: float, width: float) -> None:
        x0, y0 = left + names, top + above
        for number, name in enumerate(columns):
            x = x0 + (number + 0.5) * wide
            side, turned, x = ("center", 0.0, x) if upright else ("left", 90.0, x + 4)
            sheet.write(x, y0 - 6, name, SMALL, "soft" if block.sentences else "ink", side=side, turned=turned)
            if not upright and block.columns[number] in block.unknown:
                sheet.line("unknown", [(x + 4, y0 - 6), (x + 4, y0 - 6 - letters.width(name, SMALL))])
        for number, name in enumerate(rows):
            sheet.write(x0 - 6, y0 + (number + 0.5) * tall + 4, name, SMALL, "ink", side="right")
        if weights and columns:
            values = np.asarray(weights, float)
            sheet.fill(x0, y0, wide * len(columns), tall * len(weights), values, gap=True)
            sheet.box("frames", x0, y0, wide * len(columns), tall * len(weights), "none")
        for r, row in enumerate(texts or ()):
            for c, text in enumerate(row):
                color = "white" if weights[r][c] >= DARK else "faint" if weights[r][c] < 0.005 else "ink"
                sheet.write(x0 + (c + 0.5) * wide, y0 + (r + 0.5) * tall + 3.5, text, 9.8, color, side="center")
        for r, c in block.true:
            sheet.box("true", x0 + c * wide, y0 + r * tall, wide, tall, "none")
        room = max(width, names + wide * len(columns))
        sheet.write(
            left, y0 + tall * len(rows) + 24, letters.cut(block.asked, room, NORMAL, True), NORMAL, "ink", bold=True
        )

    width = names + wide * len(columns)
    notes = [note for note in [block.note] if note]
    return Part(width, lambda _: above + tall * len(rows) + asked, paint, notes)


# The others


@fitted.register
def _(block: Drawn, letters: Letters) -> Part:
    drawing = block.figure or block.page

    def paint(sheet: Drawing, left: float, top: float, width: float) -> None:
        sheet.place(drawing, left + max(0.0, (width - drawing.width) / 2), top)

    return Part(drawing.width, lambda width: drawing.height, paint)


@fitted.register
def _(block: Beside, letters: Letters) -> Part | None:
    first, second = fitted(block.left, letters), fitted(block.right, letters)
    if first is None or second is None:
        return first or second

    def paint(sheet: Drawing, left: float, top: float, width: float) -> None:
        spare = max(0.0, width - first.width - second.width - APART)
        first.draw(sheet, left, top, first.width)
        second.draw(sheet, left + first.width + APART + spare / 2, top, second.width)

    height = max(first.height(first.width), second.height(second.width))
    return Part(first.width + APART + second.width, lambda _: height, paint, [*first.notes, *second.notes])


@fitted.register(Ranked)
@fitted.register(Facts)
@fitted.register(Note)
def _(block: Ranked | Facts | Note, letters: Letters) -> Part:
    if isinstance(block, Note):
        return Part(0.0, lambda width: 0.0, lambda *_: None, [block.text])
    pairs = block.items if isinstance(block, Ranked) else block.pairs
    names = max((letters.width(name, SMALL) for name, _ in pairs), default=0.0) + 16

    def paint(sheet: Drawing, left: float, top: float, width: float) -> None:
        for number, (name, text) in enumerate(pairs):
            y = top + 14 + FOOT_LINE * number
            sheet.write(left, y, name)
            sheet.write(left + names, y, letters.cut(str(text), width - names, SMALL), SMALL, "ink")

    return Part(0.0, lambda width: FOOT_LINE * len(pairs), paint)


@fitted.register
def _(block: Table, letters: Letters) -> Part:
    names = max(letters.width(name, SMALL) for name in [*block.rows, ""]) + APART
    wide = [
        max(letters.width(text, SMALL) for text in [name, *(row.get(name, "") for row in block.rows.values())])
        for name in block.columns
    ]

    def paint(sheet: Drawing, left: float, top: float, width: float) -> None:
        for number, (name, row) in enumerate([("", {}), *block.rows.items()]):
            x, y = left + names, top + 14 + FOOT_LINE * number
            sheet.write(left, y, name, SMALL, "ink")
            for column, room in zip(block.columns, wide, strict=True):
                text = row.get(column, "") if number else column.replace("_", " ")
                sheet.write(x + room, y, text, SMALL, "ink" if number else "soft", side="right")
                x += room + APART

    return Part(names + sum(wide) + APART * len(wide), lambda _: FOOT_LINE * (1 + len(block.rows)), paint)


# The foot


def _foot(letters: Letters, keys: Sequence[Key], notes: Sequence[str], width: float) -> list[list[tuple[float, Key]]]:
    """Return lines of keys, each with its place, and of notes."""
    lines: list[list[tuple[float, Key]]] = []
    x = width + MARGIN
    for key in dict.fromkeys(key for key in keys if key.short):
        wide = 27 * bool(key.sample) + letters.width(key.short, SMALL)
        if x + wide > width + MARGIN:
            lines.append([])
            x = MARGIN
        lines[-1].append((x, key))
        x += wide + 29
    said = [line for note in notes if note for line in letters.wrapped(shortened(note, LONGEST_NOTE), width, SMALL)]
    return lines + [[(float(MARGIN), Key("", shown(line)))] for line in said]


def _words_sample(sheet: Drawing, x: float, y: float) -> None:
    for step in range(20):
        sheet.box("words", x - 10 + step, y - 7, 1.3, 13, tint("attention", (step + 1) / 20))


def _line_sample(kind: str) -> Callable[[Drawing, float, float], None]:
    return lambda sheet, x, y: sheet.line(kind, [(x - 10, y + 1), (x + 10, y + 1)])


def _frame_sample(kind: str) -> Callable[[Drawing, float, float], None]:
    return lambda sheet, x, y: sheet.box(kind, x - 8, y - 6, 16, 12, "none")


SAMPLES: dict[str, Callable[[Drawing, float, float], None]] = {
    "words": _words_sample,
    "sentences": lambda sheet, x, y: sheet.box("bars", x - 10, y - 5, 20, 10, "bar"),
    "evidence": _line_sample("evidence"),
    "unknown": _line_sample("unknown"),
    "answers": _line_sample("answers"),
    "targets": _line_sample("targets"),
    "true": _frame_sample("true"),
    "wrong": _frame_sample("wrong"),
}
"""Draws the sign of a key around a point."""
