"""The view of classification: documents with classes, attention to sentences and words, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zoo.predicting.classification import DocumentPrediction, ExaminedDocument
from zoo.printable import shown
from zoo.visualize.blocks import UNKNOWN, WEIGHINGS, Block, Classes, Drawn, Grid, Head, Passage, top_words
from zoo.visualize.drawing import Key
from zoo.visualize.view import Pictures, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks.classification import Classification

SENTENCES = Key("sentences", "sentence weight", "The bar before a sentence is the attention it got in its document.")
WORDS = Key(
    "words",
    f"word weight ({WEIGHINGS['paper'].title})",
    "The colour behind a word is its attention; point at it for the numbers.",
)
EVIDENCE = Key("evidence", "decided the true class", "Underlined words decided the true class.")
NONE = Key("", "the network has no attention weights")
MOST_NUMBERED = 25  # The cells of a confusion matrix of at most so many classes have their counts


class ClassificationView(View):
    """Documents with one class each."""

    columns = ("text", "predicted", "probability", "top words")  # Words with most of the document's attention
    title = "What the network attended to"

    def row(self, prediction: DocumentPrediction) -> list[Any]:
        text = shown(" ".join(word for sentence in prediction.sentences for word in sentence.words))
        probability = round(prediction.probabilities[prediction.label], 4)
        return [text, prediction.label, probability, shown(top_words(prediction.sentences))]

    def blocks(self, prediction: DocumentPrediction, examined: ExaminedDocument | None = None) -> list[Block]:
        truth, evidence = (examined.truth, examined.evidence) if examined else (None, None)
        name, probabilities, sentences = prediction.label, prediction.probabilities, prediction.sentences
        head = Head.compared(name, truth, "class", Classes(probabilities, name), above="predicted")
        weighed = any(sentence.word_weights is not None for sentence in sentences)
        barred = any(sentence.weight is not None for sentence in sentences)
        keys = (
            *[SENTENCES] * barred,
            *[WORDS] * weighed,
            *[NONE] * (bool(sentences) and not weighed and not barred),
            *[EVIDENCE] * (evidence is not None),
            *[UNKNOWN] * any(sentence.unknown for sentence in sentences),
        )
        return [head, Passage(sentences, choice=True, evidence=evidence, keys=keys)]

    def unknown(self, prediction: DocumentPrediction) -> list[str]:
        return [sentence.words[i] for sentence in prediction.sentences for i in sentence.unknown]

    def test_pictures(self, task: Classification) -> Pictures:
        assert task.spec is not None
        matrix, classes, bins = task.confusion, task.spec.classes, task.reliability
        return {
            "confusion": lambda: confusion_figure(matrix, classes),
            "reliability": lambda: reliability_figure(bins),
        }


def confusion_figure(matrix: Any, classes: Sequence[str]) -> Figure:
    """Return the picture of `matrix` (C, C), counts by true class (row) and predicted class (column).

    Cells are shaded by their share of the true class, so that rare classes are visible. Beside the cells of a few
    classes are the precision, the recall and the F1 of each class.
    """
    from zoo.metrics.classes import by_class
    from zoo.visualize.renderers.figure import draw

    counts = np.asarray(matrix)
    if counts.shape != (len(classes), len(classes)):
        raise ValueError(f"a confusion matrix of {len(classes)} classes is square of that size, got {counts.shape}")
    total, right = int(counts.sum()), int(np.trace(counts))
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    head = Head(
        f"{right:,} of {total:,} right" + (f" ({right / total:.1%})" if total else ""),
        above="rows: the true class; columns: the predicted class",
        under="shaded by the share of the true class",
    )
    few = len(classes) <= MOST_NUMBERED
    texts = [[f"{int(count)}" for count in row] for row in counts] if few else None
    figures, names = by_class(counts), {"precision": "precision", "recall": "recall", "F1": "f1"}
    margin = {title: [f"{value:.2f}" for value in figures[name]] for title, name in names.items() if few}
    grid = Grid(classes, classes, shares.tolist(), texts=texts, margin=margin, axes=("classes", "classes"))
    return draw([head, grid])


def reliability_figure(bins: Any) -> Figure:
    """Return the picture of accuracy by confidence; `bins` (3, M) are the result of a `Reliability`."""
    from zoo.metrics.classes import calibration_error
    from zoo.visualize.reliability import draw_reliability
    from zoo.visualize.renderers.figure import draw

    error = float(calibration_error(bins))
    head = Head(
        f"calibration error {error:.3f}",
        above="is the likeliest class right as often as its probability says?",
        under="mean over all examples of | accuracy - mean probability | of their bar",
    )
    return draw([head, Drawn(draw_reliability(bins))])
