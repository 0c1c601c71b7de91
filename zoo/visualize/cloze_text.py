"""A cloze question on the terminal: the answer, the candidates, the query, the document with its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.text import Text

from zoo.visualize.cloze_texts import WEIGHING, document_of, query_of
from zoo.visualize.document_text import probabilities, sentences
from zoo.visualize.printable import shown

if TYPE_CHECKING:
    from zoo.tasks.cloze import ClozePrediction


class ClozeText:
    """A prediction for a console of `rich`: words shaded where there is colour, else *marked* and, the strongest,
    **marked**. (?) stands behind words that the network does not know."""

    def __init__(self, prediction: ClozePrediction) -> None:
        self.prediction = prediction

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        colour, plain = console.color_system is not None and not console.no_color, options.ascii_only
        document, answer = document_of(self.prediction), self.prediction.answer
        probability, alone = self.prediction.probabilities[answer], ""
        if self.prediction.reader_answer is not None and self.prediction.reader_probabilities is not None:
            own = self.prediction.reader_answer
            alone = f"  re-ranked; the network alone: {shown(own)} {self.prediction.reader_probabilities[own]:.2f}"
        yield Group(
            Text.assemble((shown(answer), "bold"), f"  {probability:.2f}", (alone, "dim")),
            probabilities(document, plain, "candidates"),
            Text(),
            sentences(query_of(self.prediction), colour, plain, WEIGHING),
            Text(),
            sentences(document, colour, plain, WEIGHING),
        )
