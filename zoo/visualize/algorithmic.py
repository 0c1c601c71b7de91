"""The view of algorithmic tasks: the bits that were written, and panels that show bits and a memory over time."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from zoo.data.bits.encoding import BitLine
from zoo.predicting.algorithmic import BitPrediction, ExaminedBits
from zoo.visualize.blocks import Block, Drawn, Head
from zoo.visualize.drawing import SMALL, TINY, Drawing, Key, Raster
from zoo.visualize.letters import Letters
from zoo.visualize.renderers.terminal import Printed
from zoo.visualize.view import AttentionMap, View

TIME = Key(long="Time goes from left to right; the darker a cell, the nearer to 1, and orange is below 0.")
WRONG = Key("wrong", "wrong bit", "Wrong bits are red.")
MEMORY = Key(long="Below input and output are the heads; of the memory, the rows in use are shown.")

USED = 0.05  # A row of the memory is in use if some head weighs it more than this
MOST_ROWS = 64  # A smaller memory is shown with all its rows
ROW = {"erase": 5.0, "add": 5.0, "write": 10.0, "read": 10.0}
"""The panels of each head in their order, with the height of a row: the vectors that are written, then the places."""
WEIGHTINGS = ("write", "read")
NARROW, WIDE, BROADEST, WIDEST = 4.0, 34.0, 640.0, 1200.0
"""Pixels of a cell at least and at most, and of all steps where cells of that size allow it, and at most."""
BIT, TALLEST, GAP, MEMORY_CELL = 15.0, 230.0, 10.0, 11.0  # A row of bits, the highest panel, the gap between panels
MOST_NUMBERS = 7  # Numbers along an axis


class AlgorithmicView(View):
    """Sequences of bits with the bits that were written."""

    noun = "sequence"
    columns = ("sequence", "written", "error bits")
    title = "What the network wrote"

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """Return the inputs as in `View`; a line knows its number among all inputs, counted from 1."""
        lines = super().read(words, file)
        return [None if line is None else BitLine(line, f"line {number}") for number, line in enumerate(lines, 1)]

    def example(self, example: Mapping[str, Any]) -> str | None:
        given = example.get("read")
        return given if isinstance(given, str) else None

    def row(self, prediction: BitPrediction) -> list[Any]:
        errors = prediction.error_bits
        return [prediction.given, prediction.line(prediction.written), "" if errors is None else errors]

    def terminal(self, prediction: BitPrediction, number: int, options: Namespace) -> RenderableType:
        return Printed([self._head(prediction)])  # the panels would be measured in vain

    def blocks(self, prediction: BitPrediction, examined: ExaminedBits | None = None) -> list[Block]:
        keys = (TIME, *[WRONG] * bool(prediction.error_bits), *[MEMORY] * bool(prediction.memory))
        return [self._head(prediction), Drawn(bits_drawing(prediction), keys=keys)]

    def maps(self, predictor: Any, given: Any, prediction: BitPrediction) -> list[AttentionMap]:
        def numbers(count: int) -> list[str]:
            return [str(number) for number in range(1, count + 1)]

        parts = {name: prediction.memory[name] for name in WEIGHTINGS if name in prediction.memory}
        return [
            AttentionMap(f"steps and rows of the memory: {name}", part, numbers(part.shape[1]), numbers(part.shape[2]))
            for name, part in parts.items()
        ]

    def _head(self, prediction: BitPrediction) -> Head:
        errors, written = prediction.error_bits, prediction.line(prediction.written)
        judged: dict[str, Any] = {"wrong": tuple(wrong_letters(prediction)), "data": {"written": written}}
        if errors is not None:
            count = f"{prediction.probabilities.size:,} bits are"
            verdict = f"{errors:,} of {count} wrong" if errors else f"all {count} right"
            judged |= {"truth": (verdict, ""), "right": errors == 0}
        return Head(written, above=prediction.given, **judged)


def wrong_letters(prediction: BitPrediction) -> list[bool]:
    """Return True at the letters of the written line that differ from the truth; a word of another length is wrong."""
    found: list[bool] = []
    for number, word in enumerate(prediction.written):
        true = word if prediction.truth is None else prediction.truth[number]
        found += [False] * (len(prediction.separator) if number else 0)
        found += [len(word) != len(true) or letter != true[at] for at, letter in enumerate(word)]
    return found


# Panels


class Panel(NamedTuple):
    """Numbers over time."""

    kind: str
    values: NDArray[Any]  # (C, T): a row for each channel or each row of the memory
    name: str
    rows: Sequence[int] = ()  # The numbers of the rows of the memory, counted from 0


def bits_drawing(prediction: BitPrediction) -> Drawing:
    """Return panels over time as in the figures of Graves et al. 2014, one below the other.

    They show the input, the target where it is known, and the output as the probability of a 1, with its wrong bits
    framed; then the vectors and weightings of each head. The memory at the end is beside the first weighting.
    """
    scored, letters = prediction.scored, Letters(for_page=True)

    def at_steps(values: NDArray[Any]) -> NDArray[Any]:  # (S, O) at the scored steps, NaN at the others: (O, T)
        whole = np.full((len(scored), values.shape[1]), np.nan)
        whole[scored] = values
        return whole.T

    given = {"target": prediction.targets, "output": prediction.probabilities}
    shown = [Panel("input", prediction.inputs.T, "input")]
    shown += [Panel(kind, at_steps(values), kind) for kind, values in given.items() if values is not None]
    shown += panels(prediction)
    memory = shown.pop() if shown[-1].kind == "memory" else None
    steps = len(prediction.inputs)
    cell = min(WIDE, max(NARROW, BROADEST / steps), WIDEST / steps)
    left, wide = letters.widest((panel.name for panel in shown), SMALL) + 34, cell * steps
    beside = next((panel for panel in shown if panel.kind in WEIGHTINGS), None)
    spoken = f"{', '.join(panel.name for panel in shown)} over {steps} steps: {prediction.line(prediction.written)}"
    sheet, top = Drawing(left + wide + 4, spoken=spoken), 2.0
    for panel in shown:
        height = float(min(ROW.get(panel.kind, BIT) * len(panel.values), TALLEST))
        _draw(sheet, panel, left, top, wide, height)
        sheet.write(left - 30, top + height / 2 + 4, panel.name, SMALL, "ink", side="right")
        if panel.kind == "output" and prediction.wrong is not None:
            high = height / len(panel.values)
            for y, x in np.argwhere(at_steps(prediction.wrong) > 0).tolist():
                sheet.box("wrong", left + x * cell + 0.6, top + y * high + 0.6, cell - 1.2, high - 1.2)
        if memory is not None and panel is beside:
            high = MEMORY_CELL * len(memory.values) if height < 30 else height
            right, columns = left + wide + 2 * GAP + 24, MEMORY_CELL * memory.values.shape[1]
            _draw(sheet, memory, right, top, columns, high)
            sheet.write(right, top + high + 14, memory.name, SMALL, "ink")
            sheet.width = right + max(columns, letters.width(memory.name, SMALL)) + 4
        top += height + GAP
    for step in _numbered(steps):
        sheet.write(left + (step + 0.5) * cell, top + 4, str(step + 1), TINY, "faint", side="center")
    sheet.write(left - 30, top + 4, "step", TINY, "faint", side="right")
    sheet.height = top + 20
    return sheet


def _draw(sheet: Drawing, panel: Panel, left: float, top: float, width: float, height: float) -> None:
    signed = panel.kind not in (*WEIGHTINGS, "erase")
    most = max(1.0, float(np.nanmax(np.abs(panel.values), initial=0.0))) if signed else 1.0
    sheet.rasters.append(Raster(left, top, width, height, panel.values, most, signed))
    sheet.box("frames", left, top, width, height)
    for row in _numbered(len(panel.rows)):
        y = top + (row + 0.5) * height / len(panel.rows) + 3.5
        sheet.write(left - 4, y, str(panel.rows[row] + 1), 9.0, "faint", side="right")


def _numbered(count: int) -> range:
    return range(0, count, max(1, -(-count // MOST_NUMBERS)))


def panels(prediction: BitPrediction) -> list[Panel]:
    """Return the panels of the memory, as far as the network gives them; the last is the memory (N, W) at the end."""
    rows, found = rows_in_use(prediction), []
    for kind in ROW:
        heads = prediction.memory.get(kind, ())
        for number, head in enumerate(heads, 1):
            values, numbers = (head[:, rows], rows) if kind in WEIGHTINGS else (head, [])
            found.append(Panel(kind, values.T, f"{kind} {number}" if len(heads) > 1 else kind, numbers))
    if (memory := prediction.memory.get("memory")) is not None:
        found.append(Panel("memory", memory[rows], "memory at the end", rows))
    return found


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
