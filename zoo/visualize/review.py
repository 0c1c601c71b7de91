"""Reviewed examples of any task as a picture of the attention, and as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from zoo.tasks.classification import ReviewedDocument
from zoo.tasks.translation import ReviewedTranslation
from zoo.visualize.alignment import alignment_figure
from zoo.visualize.picture import document_figure
from zoo.visualize.weighing import shown, top_words

TOP_WORDS = 5

DOCUMENT_COLUMNS = ["index", "text", "true", "predicted", "probability", "top words"]
"""`top words` are those with the highest share of the document's attention, and that share."""
TRANSLATION_COLUMNS = ["index", "source", "reference", "translation", "log-probability", "alignment"]
"""`alignment` as Pharaoh pairs, source-target."""


def attention_figure(reviewed: ReviewedDocument | ReviewedTranslation) -> Figure | None:
    """What the network attended to; None where it has nothing of the kind."""
    if isinstance(reviewed, ReviewedDocument):
        return document_figure(reviewed.prediction, reviewed.true_label, reviewed.evidence)
    best = reviewed.prediction.best
    return None if best.attention is None else alignment_figure(reviewed.prediction.source, best, reviewed.links)


def table_of(reviews: Sequence[ReviewedDocument | ReviewedTranslation]) -> tuple[list[str], list[list[Any]]]:
    """The columns and the rows of a table; all of `reviews` are of one kind."""
    if any(isinstance(reviewed, ReviewedTranslation) for reviewed in reviews):
        return TRANSLATION_COLUMNS, [_translation(reviewed) for reviewed in reviews]  # type: ignore[arg-type]
    return DOCUMENT_COLUMNS, [_document(reviewed) for reviewed in reviews]  # type: ignore[arg-type]


def _document(reviewed: ReviewedDocument) -> list[Any]:
    prediction = reviewed.prediction
    return [
        reviewed.index,
        shown(" ".join(word for sentence in prediction.sentences for word in sentence.words)),
        reviewed.true_label or "",
        prediction.label,
        round(prediction.probabilities[prediction.label], 4),
        shown(", ".join(f"{word} {share:.2f}" for word, share in top_words(prediction, TOP_WORDS))),
    ]


def _translation(reviewed: ReviewedTranslation) -> list[Any]:
    best = reviewed.prediction.best
    return [
        reviewed.index,
        shown(" ".join(reviewed.prediction.source)),
        shown(reviewed.reference or ""),
        shown(best.text),
        round(best.log_prob, 4),
        best.pharaoh,
    ]
