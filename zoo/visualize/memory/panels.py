"""The panels that show bits and a memory over time: one for each head and each kind, with the rows in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.visualize.drawing import Drawing
from zoo.visualize.texts.letters import Letters

if TYPE_CHECKING:
    from zoo.tasks.algorithmic import BitPrediction

USED = 0.05
"""A row of the memory is in use if some head weighs it more than this."""
MOST_ROWS = 64
"""A smaller memory is shown with all its rows."""
VECTORS, WEIGHTINGS = ("erase", "add"), ("write", "read")
"""The vectors that are written, and then the places, in the order of the panels."""
NARROW, WIDE, BROADEST, WIDEST = 4.0, 34.0, 640.0, 1200.0
"""Pixels of a cell at least and at most, and of all steps where cells of that size allow it, and at most."""
ROW, TALLEST = {"erase": 5.0, "add": 5.0, "write": 10.0, "read": 10.0}, 230.0
"""The height of a row by panel, and of a panel at most; rows of bits have BIT."""
BIT, GAP, SMALL, MEMORY_CELL = 15.0, 10.0, 11.3, 11.0
MOST_NUMBERS = 7
"""Numbers along an axis."""


class Panel(NamedTuple):
    """Numbers over time."""

    kind: str
    values: NDArray[Any]
    """(C, T): a row for each channel or each row of the memory."""
    head: int | None = None
    """The number of the head, counted from 1, where there are several."""
    rows: Sequence[int] = ()
    """The numbers of the rows of the memory, counted from 0."""

    @property
    def name(self) -> str:
        return self.kind if self.head is None else f"{self.kind} {self.head}"

    @property
    def height(self) -> float:
        return float(min(ROW.get(self.kind, BIT) * len(self.values), TALLEST))


def bits_drawing(prediction: BitPrediction) -> Drawing:
    """Return panels over time as in the figures of Graves et al. 2014, one below the other.

    They show the input, the target where it is known, and the output as the probability of a 1, with its wrong bits
    framed. Then each head has its erase vector, its add vector and its weightings over the rows in use. The memory at
    the end is beside the first weighting.
    """
    letters = Letters(for_page=True)
    shown, memory = [*_bits(prediction), *panels(prediction)], memory_at_the_end(prediction)
    steps = len(prediction.inputs)
    cell = min(WIDE, max(NARROW, BROADEST / steps), WIDEST / steps)
    left = max(letters.width(panel.name, SMALL) for panel in shown) + 34
    beside = next((n for n, panel in enumerate(shown) if panel.kind in WEIGHTINGS), None)
    room = 0.0
    if memory is not None and beside is not None:
        room = 2 * GAP + 24 + max(MEMORY_CELL * memory.values.shape[1], letters.width(memory.name, SMALL))
    height = sum(panel.height + GAP for panel in shown) + 22
    spoken = f"{', '.join(panel.name for panel in shown)} over {steps} steps: {prediction.line(prediction.written)}"
    sheet = Drawing(left + cell * steps + room + 4, height, spoken)
    top: float = 2.0
    for number, panel in enumerate(shown):
        _draw(sheet, panel, left, top, cell * steps)
        sheet.write(left - 30, top + panel.height / 2 + 4, panel.name, SMALL, "ink", side="right")
        if panel.kind == "output" and prediction.wrong is not None:
            high = panel.height / len(panel.values)
            for y, x in np.argwhere(_at(prediction.scored, prediction.wrong).T > 0).tolist():
                sheet.box("wrong", left + x * cell + 0.6, top + y * high + 0.6, cell - 1.2, high - 1.2, "none")
        if memory is not None and number == beside:
            right = left + cell * steps + 2 * GAP + 24
            memory_height = MEMORY_CELL * len(memory.values) if panel.height < 30 else panel.height
            _draw(sheet, memory, right, top, MEMORY_CELL * memory.values.shape[1], memory_height)
            sheet.write(right, top + memory_height + 14, memory.name, SMALL, "ink")
        top += panel.height + GAP
    for step in _numbered(steps):
        sheet.write(left + (step + 0.5) * cell, top + 4, str(step + 1), 9.8, "faint", side="center")
    sheet.write(left - 30, top + 4, "step", 9.8, "faint", side="right")
    sheet.height = max(sheet.height, top + 12)
    return sheet


def _draw(sheet: Drawing, panel: Panel, left: float, top: float, width: float, height: float = 0.0) -> None:
    """Draw the cells of a panel, and the numbers of rows of the memory, counted from 1."""
    height = height or panel.height
    signed = panel.kind not in (*WEIGHTINGS, VECTORS[0])
    most = max(1.0, float(np.nanmax(np.abs(panel.values), initial=0.0))) if signed else 1.0
    sheet.fill(left, top, width, height, panel.values, most=most, signed=signed)
    sheet.box("frames", left, top, width, height, "none")
    for row in _numbered(len(panel.rows)):
        y = top + (row + 0.5) * height / len(panel.rows) + 3.5
        sheet.write(left - 4, y, str(panel.rows[row] + 1), 9.0, "faint", side="right")


def _numbered(count: int) -> range:
    """The places along an axis that have a number: the first, and every so many."""
    return range(0, count, max(1, -(-count // MOST_NUMBERS)))


def _bits(prediction: BitPrediction) -> list[Panel]:
    scored = prediction.scored
    target = [] if prediction.targets is None else [Panel("target", _at(scored, prediction.targets).T)]
    output = Panel("output", _at(scored, prediction.probabilities).T)
    return [Panel("input", prediction.inputs.T), *target, output]


def _at(scored: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Return `values` (S, O) at the scored steps and NaN at the others, (T, O)."""
    whole = np.full((len(scored), values.shape[1]), np.nan)
    whole[scored] = values
    return whole


def panels(prediction: BitPrediction) -> list[Panel]:
    """Return the panels of the memory, as far as the network gives them."""
    rows, found = rows_in_use(prediction), []
    for name in (*VECTORS, *WEIGHTINGS):
        heads = prediction.memory.get(name, ())
        for number, head in enumerate(heads, 1):
            values, numbers = (head[:, rows], rows) if name in WEIGHTINGS else (head, [])
            found.append(Panel(name, values.T, number if len(heads) > 1 else None, numbers))
    return found


def memory_at_the_end(prediction: BitPrediction) -> Panel | None:
    """Return the rows in use of the memory (N, W) after the last step; None where the network does not give it."""
    if "memory" not in prediction.memory:
        return None
    rows = rows_in_use(prediction)
    return Panel("memory at the end", prediction.memory["memory"][rows], rows=rows)


def rows_in_use(prediction: BitPrediction) -> list[int]:
    """Return the rows of the memory from the first to the last one in use; all rows of a small memory.

    The heads of a Turing machine move from the last row to the first, so the longest run of unused rows is left out.
    """
    weightings = [prediction.memory[name] for name in WEIGHTINGS if name in prediction.memory]
    count = max((part.shape[-1] for part in weightings), default=len(prediction.memory.get("memory", ())))
    used = sorted({row for part in weightings for row in (part.max((0, 1)) > USED).nonzero()[0].tolist()})
    if not used or count <= MOST_ROWS:
        return list(range(count))
    ends = zip([used[-1] - count, *used], used, strict=False)  # of the unused rows before each that is in use
    gap, first = max(((row - before, row) for before, row in ends), key=lambda end: end[0])
    return [(first + step) % count for step in range(count - gap + 1)]
