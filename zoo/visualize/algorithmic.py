"""The view of algorithmic tasks: the bits that were written, and the memory over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zoo.data.bits.encoding import BitLine
from zoo.tasks.algorithmic import BitPrediction, ExaminedBits
from zoo.visualize.blocks import Block, Drawn, Head
from zoo.visualize.drawing import Key
from zoo.visualize.drawings.panels import bits_drawing
from zoo.visualize.view import View

TIME = Key("", "", "Time goes from left to right; the darker a cell, the nearer to 1, and orange is below 0.")
WRONG = Key("wrong", "wrong bit", "Wrong bits are red.")
MEMORY = Key("", "", "Below input and output are the heads; of the memory, the rows in use are shown.")


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

    def blocks(self, prediction: BitPrediction, examined: ExaminedBits | None = None) -> list[Block]:
        errors, written = prediction.error_bits, prediction.line(prediction.written)
        head = Head(
            written,
            above=prediction.given,
            truth=None if errors is None else (verdict(prediction), ""),
            right=None if errors is None else errors == 0,
            wrong=tuple(wrong_letters(prediction)),
            data={"written": written},
        )
        keys = (TIME, *[WRONG] * bool(errors), *[MEMORY] * bool(prediction.memory))
        return [head, Drawn(bits_drawing(prediction), keys=keys)]


def wrong_letters(prediction: BitPrediction) -> list[bool]:
    """Return True at the letters of the written line that differ from the truth; a word of another length is wrong."""
    found: list[bool] = []
    for number, word in enumerate(prediction.written):
        true = word if prediction.truth is None else prediction.truth[number]
        found += [False] * (len(prediction.separator) if number else 0)
        found += [len(word) != len(true) or letter != true[at] for at, letter in enumerate(word)]
    return found


def verdict(prediction: BitPrediction) -> str:
    """Return the number of wrong bits in words; empty where the truth is unknown."""
    errors, count = prediction.error_bits, f"{prediction.probabilities.size:,}"
    if errors is None:
        return ""
    return f"all {count} bits are right" if not errors else f"{errors:,} of {count} bits are wrong"
