"""What the cloze task shows: the candidates for a blank, and the attention to the document and to the query."""

from __future__ import annotations

from argparse import Namespace, _ArgumentGroup
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from zoo.data.cloze.question import ClozeQuestion
from zoo.data.cloze.readers import parse_line, read_file
from zoo.errors import ConfigError
from zoo.tasks.cloze import Cloze, ClozePrediction, ExaminedQuestion
from zoo.tasks.cloze_reranking import FILE, beside
from zoo.visualize import cloze_page
from zoo.visualize.cloze_text import ClozeText
from zoo.visualize.cloze_texts import document_of, query_of
from zoo.visualize.document_weighing import top_words
from zoo.visualize.printable import shown
from zoo.visualize.view import Predicts, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined

TOP_WORDS = 5


class ClozeView(View):
    """Questions with a candidate for the blank."""

    noun: ClassVar[str] = "question"
    columns: ClassVar[tuple[str, ...]] = ("query", "answer", "probability", "candidates", "top words")
    """`candidates` from the likeliest with their probabilities; `top words` are the places of the document with most
    attention."""
    style: ClassVar[str] = cloze_page.STYLE

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument(
            "--rerank", action="store_true", help="judge the best candidates again by the run's language models"
        )
        group.add_argument(
            "--rerank-file", type=Path, metavar="FILE", help="the same, by those that another test has left in FILE"
        )

    def prepare(self, predictor: Predicts, options: Namespace) -> None:
        if not options.rerank and options.rerank_file is None:
            return
        assert isinstance(predictor.task, Cloze) and predictor.checkpoint is not None
        given: Path | None = options.rerank_file
        if given is not None and not given.is_file():
            raise ConfigError(
                f"--rerank-file {given}: no such file; a test with task.rerank=true leaves {FILE} in its folder"
            )
        predictor.task.load_reranker(given or beside(predictor.checkpoint))

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """Questions on the command line and in a file: one a line, or blocks in CBT's form."""
        if file is None:
            return super().read(words, None)
        return [*(super().read(words, None) if words else []), *read_file(file)]

    def parse(self, line: str) -> ClozeQuestion:
        return parse_line(line)

    def row(self, prediction: ClozePrediction) -> list[Any]:
        ranked = sorted(prediction.probabilities.items(), key=lambda one: -one[1])
        top = top_words(document_of(prediction), TOP_WORDS) if prediction.document.weights else []
        return [
            shown(" ".join(prediction.query.words)),
            shown(prediction.answer),
            round(prediction.probabilities[prediction.answer], 4),
            shown(", ".join(f"{word} {share:.2f}" for word, share in ranked)),
            shown(", ".join(f"{word} {share:.2f}" for word, share in top)),
        ]

    def terminal(self, prediction: ClozePrediction, number: int, options: Namespace) -> RenderableType:
        return ClozeText(prediction)

    def unknown(self, prediction: ClozePrediction) -> list[str]:
        sentences = (*document_of(prediction).sentences, *query_of(prediction).sentences)
        return [sentence.words[place] for sentence in sentences for place in sentence.unknown]

    def picture(self, prediction: ClozePrediction, examined: Examined | None = None) -> Figure:
        from zoo.visualize.cloze_picture import cloze_figure

        if examined is None:
            return cloze_figure(prediction)
        return cloze_figure(
            prediction, examined.truth, examined.evidence if isinstance(examined, ExaminedQuestion) else None
        )

    def about(self, predictions: Sequence[ClozePrediction | None]) -> str:
        return cloze_page.about(predictions)

    def article(self, prediction: ClozePrediction) -> str:
        return cloze_page.article(prediction)
