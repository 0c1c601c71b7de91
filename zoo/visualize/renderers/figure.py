"""Draw the blocks of an answer as a picture, one below the other, with a key to the signs at the foot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from zoo.printable import shortened
from zoo.visualize.blocks import Beside, Block, Classes, Drawn, Grid, Head, Note, Passage, Rows, flat
from zoo.visualize.drawing import LARGE, NORMAL, SMALL, TINY, Drawing, Raster, Shape, mixed
from zoo.visualize.letters import Letters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# pixels
NARROWEST, MARGIN, APART = 614, 34, 24  # The least width of a picture, its margin, and the room between two blocks
FOOT_LINE, LONGEST_NOTE = 21, 800


def draw(blocks: Sequence[Block]) -> Figure:
    """Return the picture of the blocks, as wide as the widest of them and as high as they need."""
    from zoo.visualize.renderers.canvas import painted

    letters, room, width = Letters(), -1.0, NARROWEST - 2.0 * MARGIN
    while room < width:  # the first pass finds the widest block
        room = width
        parts = [part for block in blocks if (part := fitted(block, letters, room)) is not None]
        width = max([room, *(part.width for part in parts)])
    sheet = Drawing(width + 2 * MARGIN)
    sheet.keys += [key for block in flat(blocks) for key in block.keys]
    bottom: float = MARGIN - APART
    for part in parts:
        sheet.place(part, MARGIN, bottom + APART)
        bottom += APART + part.height
    _draw_foot(sheet, letters, bottom)
    for label in sheet.labels:  # a text that was never measured still needs a font with its letters
        letters.width(label.text, label.size, label.bold)
    return painted(sheet, letters)


@singledispatch
def fitted(block: Block, letters: Letters, room: float) -> Drawing | None:
    """Return the drawing of a block, at least `room` pixels wide; None for a block that a picture does not show."""
    return None


def flow(widths: Iterable[float], room: float, gap: float) -> Iterator[tuple[int, float]]:
    """Yield the line and the left end of each part of a text; the parts of a line are `gap` pixels apart."""
    line, left = 0, 0.0
    for width in widths:
        if left > 0 and left + width > room:
            line, left = line + 1, 0.0
        yield line, left
        left += width + gap


# Head

ROW, CLASS_BAR, NUMBER, DISC, LONGEST_NAME = 19, 106, 38, 38, 250
"""Sizes of the classes: the height of a row, and the widths of a full bar, a number, a mark and the longest name."""
CLASSES_SHARE = 0.45  # The largest share of the width that the classes take
MOST_CLASSES = 10


@fitted.register
def _(block: Head, letters: Letters, room: float) -> Drawing:
    classes = Drawing(-APART) if block.classes is None else _class_bars(block.classes, letters)
    sheet = Drawing(max(room, classes.width / CLASSES_SHARE))
    room, among = sheet.width - classes.width - APART, block.classes.probabilities if block.classes else ()
    sheet.write(0, 10, letters.cut(block.above, room, SMALL))
    sheet.write(0, 39, letters.cut(block.text or "(nothing)", room, LARGE, True, among), LARGE, "ink", bold=True)
    probability = "" if block.probability is None else f"probability {block.probability:.2f}"
    under = letters.cut("  ".join(filter(None, [probability, block.under])), room, SMALL)
    sheet.write(0, 65, under)
    sheet.height = 68 if under else 44
    if block.truth is not None:  # beside the line under the answer if there is room, and else below it
        x, y, verdict = letters.width(under, SMALL) + 19 * bool(under), 65, block.verdict
        if x + letters.width(verdict, SMALL, True) > room:
            first = verdict.removesuffix(block.truth[1])
            left = room - letters.width(first, SMALL, True)
            x, y, verdict = 0.0, 88, first + letters.cut(block.truth[1], left, SMALL, True, among)
        color = {True: "good", False: "wrong", None: "ink"}[block.right]
        sheet.write(x, y, verdict, SMALL, color, bold=True)
        sheet.height = y + 4
    sheet.place(classes, sheet.width - classes.width, 0)
    sheet.height = max(sheet.height, classes.height)
    sheet.notes += block.notes
    return sheet


def _class_bars(classes: Classes, letters: Letters) -> Drawing:
    every, names = classes.probabilities, classes.likeliest(MOST_CLASSES)
    rows = [(letters.cut(name, LONGEST_NAME, SMALL, True, names), every[name], name) for name in names]
    if left_out := len(every) - len(names):
        rows.append((f"and {left_out:,} more", sum(share for name, share in every.items() if name not in names), ""))
    bar = DISC * bool(classes.marks) + letters.widest((text for text, _, _ in rows), SMALL, True) + 10
    sheet = Drawing(bar + CLASS_BAR + NUMBER, ROW * len(rows))
    for number, (text, share, name) in enumerate(rows):
        y, chosen = 10 + number * ROW, name != "" and name == classes.chosen
        color = "ink" if chosen else "soft"
        sheet.write(bar - 10, y, text, SMALL, color, bold=chosen, side="right")
        sheet.write(sheet.width, y, f"{share:.2f}", SMALL, color, bold=chosen, side="right")
        if number < len(names):
            sheet.box("tracks", bar, y - 9, CLASS_BAR, 10)
            sheet.box("bars", bar, y - 9, CLASS_BAR * share, 10, fill="ink" if chosen else "prob")
        if mark := classes.marks.get(name):
            mark.draw(sheet, "nodes", 10, y - 4.3, 8)
    return sheet


# Passage

TEXT_WIDTH, TEXT_LEFT = 796, 124  # The width of a passage, and of its margin with bars and titles
BAR_LEFT, BAR_WIDTH, BAR_HEIGHT = 35, 67, 10.6
LINE, BOX, SENTENCE_GAP = 26, 20.6, 8.6  # The heights of a line and of the box behind a word; the room after a sentence
MOST_IN_LINE = 120  # More words than a line can hold


@fitted.register
def _(block: Passage, letters: Letters, room: float) -> Drawing:
    sheet, y, lines, drawn, cut = Drawing(max(room, TEXT_WIDTH)), 0.0, block.most_lines, 0, 0
    bars, shades, wide = block.bars, block.shades(), TEXT_WIDTH - TEXT_LEFT
    space = letters.space(NORMAL) + 2
    sheet.write(0, 22, block.title)
    for s, sentence in enumerate(block.sentences):
        if lines <= 0:
            break
        sheet.line("rules", [(0, y), (sheet.width, y)])
        base = y + SENTENCE_GAP / 2 + 17.8
        if bars is not None:
            weight = f"{sentence.weight:.2f}"
            sheet.write(BAR_LEFT - 8, base, weight, SMALL, "faint" if weight == "0.00" else "soft", side="right")
            sheet.box("tracks", BAR_LEFT, base - 10, BAR_WIDTH, BAR_HEIGHT)
            sheet.box("bars", BAR_LEFT, base - 10, BAR_WIDTH * bars[s], BAR_HEIGHT, fill="bar")
        words = [letters.cut(word, wide, NORMAL) for word in sentence.words[: MOST_IN_LINE * lines]]
        widths = [letters.width(word, NORMAL) for word in words]
        places = [(TEXT_LEFT + left, base + line * LINE) for line, left in flow(widths, wide, space) if line < lines]
        for number, (left, below) in enumerate(places):
            strength = shades[s][number] if shades else 0.0
            if strength > 0.01:
                color = mixed("card", "attention", strength)
                sheet.box("words", left - 3.4, below - 15, widths[number] + 6.8, BOX, 4.3, fill=color)
            sheet.write(left, below, words[number], NORMAL, "ink")
        evident = [n for n, true in enumerate(block.evidence[s]) if true] if block.evidence else []
        for kind, marked, lower in (("evidence", evident, 5), ("unknown", sentence.unknown, 7.2)):
            for number, (left, below) in enumerate(places):
                if number in marked:
                    right = left + widths[number]
                    if number + 1 in marked and (number + 1 < len(places) and places[number + 1][1] == below):
                        right = places[number + 1][0]  # marked words are underlined through
                    sheet.line(kind, [(left, below + lower), (right, below + lower)])
        used = round((places[-1][1] - base) / LINE) + 1 if places else 1
        y += LINE * used + SENTENCE_GAP
        lines, drawn, cut = lines - used, s + 1, len(sentence.words) - len(places)
    sheet.line("rules", [(0, y), (sheet.width, y)])
    left_out = [f"{cut:,} more word{'s' * (cut > 1)} of this sentence"] * bool(cut)
    if missing := block.sentences[drawn:]:
        weights = [sentence.weight for sentence in missing if sentence.weight is not None]
        attention = f" with {sum(weights):.2f} of the attention" if weights else ""
        left_out.append(f"{len(missing):,} more sentence{'s' * (len(missing) > 1)}{attention}")
    if left_out or not block.sentences:
        sheet.write(TEXT_LEFT, y + 21, "… " + " and ".join(left_out) if left_out else "(no words)")
        y += LINE
    sheet.height = y
    return sheet


# Grid

CELL, CELL_WIDTH = 23, 53  # The side of a cell, and the width of one with a number
LONGEST_SENTENCE, LONGEST_TOKEN = 440, 140
MOST_SENTENCES, MOST_CELLS = 40, 60
DARK = 0.6  # From this weight on, white numbers read better than black ones


@fitted.register
def _(block: Grid, letters: Letters, room: float) -> Drawing:
    grid = block.cut(MOST_SENTENCES if block.sentences else MOST_CELLS, MOST_CELLS)
    longest, rest = LONGEST_SENTENCE if grid.sentences else LONGEST_TOKEN, [] if grid.rest is None else [grid.rest]
    rows = [letters.cut(name, longest, SMALL) for name in [*grid.rows, *["(empty memory)"] * len(rest)]]
    columns, weights = [letters.cut(name, LONGEST_TOKEN, SMALL) for name in grid.columns], [*grid.weights, *rest]
    texts = grid.texts or ([[f"{weight:.2f}" for weight in row] for row in weights] if grid.sentences else ())
    wide, highest = CELL_WIDTH if texts else CELL, letters.widest(columns, SMALL)
    upright = highest <= wide - 4
    left, top = letters.widest(rows, SMALL) + 8, 18 if upright else 10 + highest
    across, down = wide * len(columns), CELL * len(rows)
    beside = [*accumulate(letters.widest([name, *column], SMALL) + APART for name, column in grid.margin.items())]
    sheet = Drawing(max(room, left + across + sum(beside[-1:])), top + down + LINE * bool(grid.asked))
    for (name, column), right in zip(grid.margin.items(), beside, strict=True):
        sheet.write(left + across + right, top - 6, name, SMALL, side="right")
        for number, text in enumerate(column):
            y = top + (number + 0.5) * CELL + 4
            sheet.write(left + across + right, y, text, SMALL, "ink", side="right")
    for number, name in enumerate(columns):
        x, color = left + (number + 0.5) * wide, "soft" if grid.sentences else "ink"
        if upright:
            sheet.write(x, top - 6, name, SMALL, color, side="center")
            continue
        sheet.write(x + 4, top - 6, name, SMALL, color, turned=90)
        if grid.columns[number] in grid.unknown:
            sheet.line("unknown", [(x + 4, top - 6), (x + 4, top - 6 - letters.width(name, SMALL))])
    for number, name in enumerate(rows):
        sheet.write(left - 6, top + (number + 0.5) * CELL + 4, name, SMALL, "ink", side="right")
    if rows and columns:
        sheet.rasters.append(Raster(left, top, across, down, np.asarray(weights, float), gap=True))
        sheet.box("frames", left, top, across, down)
    for r, row in enumerate(texts):
        for c, text in enumerate(row):
            color = "white" if weights[r][c] >= DARK else "faint" if weights[r][c] < 0.005 else "ink"
            x, y = left + (c + 0.5) * wide, top + (r + 0.5) * CELL + 3.5
            sheet.write(x, y, text, TINY, color, side="center")
    for r, c in grid.true:
        sheet.box("true", left + c * wide, top + r * CELL, wide, CELL)
    sheet.write(0, top + down + 24, letters.cut(grid.asked, sheet.width, NORMAL, True), NORMAL, "ink", bold=True)
    sheet.notes += [grid.note] * bool(grid.note)
    return sheet


# The others


@fitted.register
def _(block: Drawn, letters: Letters, room: float) -> Drawing:
    return centred(block.drawing, room)


def centred(drawing: Drawing, room: float) -> Drawing:
    """Return a drawing in the middle of the room."""
    sheet = Drawing(max(room, drawing.width), drawing.height)
    sheet.place(drawing, (sheet.width - drawing.width) / 2, 0)
    return sheet


@fitted.register
def _(block: Beside, letters: Letters, room: float) -> Drawing | None:
    left, right = fitted(block.left, letters, 0), fitted(block.right, letters, 0)
    if left is None or right is None:
        return left or right
    sheet = Drawing(max(room, left.width + APART + right.width), max(left.height, right.height))
    sheet.place(left, 0, 0)
    sheet.place(right, (sheet.width + left.width + APART - right.width) / 2, 0)
    return sheet


@fitted.register
def _(block: Note, letters: Letters, room: float) -> Drawing:
    return Drawing(0, notes=[block.text])


@fitted.register
def _(block: Rows, letters: Letters, room: float) -> Drawing:
    rows = [*[block.titles] * bool(block.titles), *block.rows]
    texts = [[letters.cut(str(text), room, SMALL) for text in row] for row in rows]
    gap, numbers = (APART, "right") if block.titles else (16, "left")
    ends = np.cumsum([letters.widest(column, SMALL) + gap for column in zip(*texts, strict=True)]).tolist()
    sheet = Drawing(max(room, *ends[-1:]) if block.titles else room, FOOT_LINE * len(rows))
    for number, row in enumerate(texts):
        y, title = 14 + FOOT_LINE * number, number < len(rows) - len(block.rows)
        sheet.write(0, y, row[0], SMALL, "ink" if block.titles else "soft")
        for column, text in enumerate(row[1:], 1):
            x = ends[column] - gap if block.titles else ends[column - 1]
            text = letters.cut(text, sheet.width - ends[column - 1], SMALL)
            sheet.write(x, y, text, SMALL, "soft" if title else "ink", side=numbers)
    return sheet


# The foot


def _draw_foot(sheet: Drawing, letters: Letters, bottom: float) -> None:
    """Draw the keys of the sheet, as many per line as fit, and then its notes."""
    room, y, top = sheet.width - 2 * MARGIN, bottom + APART - FOOT_LINE + 10, bottom + APART + 10
    keys = list(dict.fromkeys(key for key in sheet.keys if key.short))
    indents = [27 * bool(key.sample) for key in keys]
    widths = [indent + letters.width(key.short, SMALL) for key, indent in zip(keys, indents, strict=True)]
    for key, indent, (line, left) in zip(keys, indents, flow(widths, room, 29), strict=True):
        y = top + line * FOOT_LINE
        if key.sample:
            sheet.place(Drawing(0, shapes=SAMPLES[key.sample]), MARGIN + left + 10, y - 4)
        sheet.write(MARGIN + left + indent, y, key.short)
    for note in sheet.notes:
        words = [letters.cut(word, room, SMALL) for word in shortened(note, LONGEST_NOTE).split()]
        lines = [line for line, _ in flow((letters.width(word, SMALL) for word in words), room, letters.space(SMALL))]
        for _, together in groupby(zip(lines, words, strict=True), key=itemgetter(0)):
            y += FOOT_LINE
            sheet.write(MARGIN, y, " ".join(word for _, word in together))
    sheet.height = y + FOOT_LINE if keys or sheet.notes else bottom + APART


_SHADES = [Shape([(step - 11, -7)], (1.3, 13), mixed("card", "attention", step / 20)) for step in range(1, 21)]
SAMPLES: dict[str, dict[str, list[Shape]]] = {
    "words": {"words": _SHADES},
    "sentences": {"bars": [Shape([(-10, -5)], (20, 10), "bar")]},
    **{kind: {kind: [Shape([(-10, 1), (10, 1)])]} for kind in ("evidence", "unknown", "answers", "targets")},
    **{kind: {kind: [Shape([(-8, -6)], (16, 12))]} for kind in ("true", "wrong")},
}
"""The shapes of the sign of a key, by their kinds, around the point (0, 0)."""
