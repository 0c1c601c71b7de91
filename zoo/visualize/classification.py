"""What classification shows: documents with their classes, and the attention to their sentences and words."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from zoo.tasks.classification import Classification, DocumentPrediction, ExaminedDocument
from zoo.visualize import document_page
from zoo.visualize.document_text import DocumentText
from zoo.visualize.document_weighing import top_words
from zoo.visualize.printable import shown
from zoo.visualize.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined, Task

TOP_WORDS = 5


class ClassificationView(View):
    """Documents with one class each."""

    columns: ClassVar[tuple[str, ...]] = ("text", "predicted", "probability", "top words")
    """`top words` are those with the highest share of the document's attention, and that share."""

    def row(self, prediction: DocumentPrediction) -> list[Any]:
        return [
            shown(" ".join(word for sentence in prediction.sentences for word in sentence.words)),
            prediction.label,
            round(prediction.probabilities[prediction.label], 4),
            shown(", ".join(f"{word} {share:.2f}" for word, share in top_words(prediction, TOP_WORDS))),
        ]

    def terminal(self, prediction: DocumentPrediction, number: int, options: Namespace) -> RenderableType:
        return DocumentText(prediction)

    def unknown(self, prediction: DocumentPrediction) -> list[str]:
        return [sentence.words[i] for sentence in prediction.sentences for i in sentence.unknown]

    def picture(self, prediction: DocumentPrediction, examined: Examined | None = None) -> Figure:
        from zoo.visualize.document_picture import document_figure

        if examined is None:
            return document_figure(prediction)
        return document_figure(
            prediction, examined.truth, examined.evidence if isinstance(examined, ExaminedDocument) else None
        )

    def page(self, predictions: Sequence[DocumentPrediction | None]) -> str:
        return document_page.document_html(predictions)

    def test_pictures(self, task: Task) -> Mapping[str, Callable[[], Figure]]:
        from zoo.visualize.confusion import confusion_figure

        assert isinstance(task, Classification) and task.spec is not None
        matrix, classes = task.test_confusion.compute().cpu(), task.spec.classes
        return {"confusion": lambda: confusion_figure(matrix, classes)}
