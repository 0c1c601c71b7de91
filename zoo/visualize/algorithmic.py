"""What the task algorithmic shows: the bits that were written, and what was done to the memory meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from zoo.data.bits.encoding import BitLine
from zoo.tasks.algorithmic import BitPrediction
from zoo.visualize.view import View


class AlgorithmicView(View):
    """Sequences with the bits that were written to them."""

    noun: ClassVar[str] = "sequence"
    columns: ClassVar[tuple[str, ...]] = ("sequence", "written", "error bits")

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        lines = super().read(words, file)
        return [None if line is None else BitLine(line, f"line {number}") for number, line in enumerate(lines, 1)]

    def row(self, prediction: BitPrediction) -> list[Any]:
        errors = prediction.error_bits
        return [prediction.given, prediction.written, "" if errors is None else errors]
