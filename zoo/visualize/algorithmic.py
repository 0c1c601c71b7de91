"""What the task algorithmic shows: the bits that were written, and what was done to the memory meanwhile."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from zoo.data.bits.encoding import BitLine
from zoo.tasks.algorithmic import BitPrediction
from zoo.visualize import bits_page
from zoo.visualize.bits_text import BitsText
from zoo.visualize.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined


class AlgorithmicView(View):
    """Sequences with the bits that were written to them."""

    noun: ClassVar[str] = "sequence"
    columns: ClassVar[tuple[str, ...]] = ("sequence", "written", "error bits")
    style: ClassVar[str] = bits_page.STYLE

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """As in `View`; a line knows which of all inputs it is, from 1, as in a table of predictions."""
        lines = super().read(words, file)
        return [None if line is None else BitLine(line, f"line {number}") for number, line in enumerate(lines, 1)]

    def row(self, prediction: BitPrediction) -> list[Any]:
        errors = prediction.error_bits
        return [prediction.given, prediction.line(prediction.written), "" if errors is None else errors]

    def terminal(self, prediction: BitPrediction, number: int, options: Namespace) -> RenderableType:
        return BitsText(prediction)

    def picture(self, prediction: BitPrediction, examined: Examined | None = None) -> Figure:
        from zoo.visualize.bits_picture import bits_figure

        return bits_figure(prediction)

    def about(self, predictions: Sequence[BitPrediction | None]) -> str:
        return bits_page.about(predictions)

    def article(self, prediction: BitPrediction) -> str:
        return bits_page.article(prediction)
