"""What answering shows: stories with the answers to a question, and what each hop attended to."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from zoo.data.stories.readers import StoryQuestion, parse_line, read_file
from zoo.data.stories.words import PUNCTUATION
from zoo.errors import ConfigError
from zoo.tasks.answering import AnswerPrediction, ExaminedAnswer
from zoo.visualize import hops_page
from zoo.visualize.hops_text import HopsText
from zoo.visualize.hops_weighing import strongest
from zoo.visualize.printable import shown
from zoo.visualize.view import Predicts, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined


class AnsweringView(View):
    """Stories, each with a question and its answer."""

    noun: ClassVar[str] = "story"
    columns: ClassVar[tuple[str, ...]] = ("story", "question", "answer", "probability", "hops")
    """`hops` are the sentences that each hop attended to most, and how much."""
    style: ClassVar[str] = hops_page.STYLE

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """As in `View`; a file may also be in bAbI's format, or json lines."""
        if file is None:
            return super().read(words, None)
        typed = super().read(words, None) if words else []
        return [*typed, *read_file(file)]

    def parse(self, line: str) -> StoryQuestion:
        return parse_line(line)

    def prepare(self, predictor: Predicts, options: Namespace) -> None:
        if options.attention is not None and not predictor([StoryQuestion(["a"], "a")])[0].hops:
            raise ConfigError("--attention: this network has no attention; train one that has, such as model=memn2n")

    def row(self, prediction: AnswerPrediction) -> list[Any]:
        best = zip(strongest(prediction), prediction.hops, strict=True) if prediction.sentences else ()
        hops = (f"hop {number}: {prediction.sentences[at]} {hop[at]:.2f}" for number, (at, hop) in enumerate(best, 1))
        return [
            shown(" ".join(prediction.sentences)),
            shown(prediction.question),
            shown(prediction.answer),
            round(prediction.probability, 4),
            shown("; ".join(hops)),
        ]

    def terminal(self, prediction: AnswerPrediction, number: int, options: Namespace) -> RenderableType:
        return HopsText(prediction)

    def unknown(self, prediction: AnswerPrediction) -> list[str]:
        return [word.strip(f"{PUNCTUATION} ") for word in prediction.unknown]

    def picture(self, prediction: AnswerPrediction, examined: Examined | None = None) -> Figure | None:
        from zoo.visualize.hops_picture import hops_figure

        if not prediction.hops:
            return None
        if isinstance(examined, ExaminedAnswer):
            return hops_figure(prediction, examined.truth, examined.supporting)
        return hops_figure(prediction)

    def about(self, predictions: Sequence[AnswerPrediction | None]) -> str:
        return hops_page.about(predictions)

    def article(self, prediction: AnswerPrediction) -> str:
        return hops_page.article(prediction)
