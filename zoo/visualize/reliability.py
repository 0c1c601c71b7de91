"""Draws how reliable the probabilities of a classifier are: accuracy over confidence, and the number of examples."""

from typing import Any

import numpy as np

from zoo.visualize.drawing import SMALL, TINY, Drawing, Key
from zoo.visualize.plots import Axis, number_text, ticks

WIDTH, HIGH, LOW = 546, 260, 46  # Pixels: the width of the drawing, and the heights of its two plots
LEFT, TITLE, BOTTOM = 44, 34, 38  # Room for the numbers of an axis, for a title with numbers under it, for an axis
GAP = 3  # Pixels between two bars
DIAGONAL = Key("evidence", "accuracy equal to the probability")


def draw_reliability(bins: Any) -> Drawing:
    """Return the drawing of `bins` (3, M), the result of a `zoo.metrics.classes.Reliability`."""
    count, _, right = np.asarray(bins)
    floor, middle = TITLE + HIGH, TITLE + HIGH + BOTTOM + TITLE + LOW
    sheet = Drawing(WIDTH, middle + 8, "Accuracy by the probability of the likeliest class", keys=[DIAGONAL])
    across, up = Axis(0.0, 1.0, LEFT, WIDTH), Axis(0.0, 1.0, floor, TITLE)
    sheet.write(LEFT, 12, "accuracy", SMALL, "ink", bold=True)
    for value in ticks(0.0, 1.0, most=6):
        x, y, text = across.place(value), up.place(value), number_text(value)
        sheet.line("rules", [(LEFT, y), (WIDTH, y)])
        sheet.write(LEFT - 8, y + 3.5, text, TINY, side="right")
        sheet.line("axes", [(x, floor), (x, floor + 4)])
        sheet.write(x, floor + 16, text, TINY, side="center")
    sheet.write(WIDTH, floor + 32, "probability of the likeliest class", TINY, side="right")
    sheet.write(LEFT, floor + BOTTOM + 12, "examples", SMALL, "ink", bold=True)
    wide = (WIDTH - LEFT) / len(count)
    for place in np.flatnonzero(count):
        left, top = LEFT + wide * place, up.place(right[place] / count[place])
        sheet.box("words", left + GAP / 2, top, wide - GAP, floor - top)
        high = LOW * count[place] / count.max()
        sheet.box("bars", left + GAP / 2, middle - high, wide - GAP, high)
        number = f"{count[place]:,.0f}" if count[place] < 10_000 else f"{count[place] / 1000:,.0f}k"
        sheet.write(left + wide / 2, middle - high - 4, number, TINY, side="center")
    sheet.line("evidence", [(LEFT, floor), (WIDTH, TITLE)])
    for y in (floor, middle):
        sheet.line("axes", [(LEFT, y), (WIDTH, y)])
    return sheet
