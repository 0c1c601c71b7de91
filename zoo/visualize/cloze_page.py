"""Cloze questions on a page: the answer and the other candidates, the query, and the document by its attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zoo.visualize import document_page, page
from zoo.visualize.cloze_texts import document_of, query_of
from zoo.visualize.page import text

if TYPE_CHECKING:
    from zoo.tasks.cloze import ClozePrediction

STYLE = document_page.STYLE + page.resource("cloze_page.css")


def about(predictions: Sequence[ClozePrediction | None]) -> str:
    """What the page shows and how it is read."""
    parts, real = [page.how_many(predictions, "question")], [p for p in predictions if p is not None]
    if any(prediction.document.weights for prediction in real):
        parts.append(
            "The colour behind a word is its attention, the bar before a sentence what its words have together; point "
            "at a word for the numbers. What a candidate has in all its places, shared out among the candidates, is "
            "its probability."
        )
    if any(prediction.query.weights for prediction in real):
        parts.append("In the query the colour is how much each word counts.")
    if any(query_of(prediction).sentences[0].unknown or prediction.document.unknown for prediction in real):
        parts.append("A dotted line is under words that the network does not know.")
    return " ".join(parts)


def article(prediction: ClozePrediction) -> str:
    """One question, the candidates, and what was attended to."""
    document, query = document_of(prediction), query_of(prediction)
    probability = prediction.probabilities[prediction.answer]
    alone = ""
    if prediction.reader_answer is not None and prediction.reader_probabilities is not None:
        own = prediction.reader_probabilities[prediction.reader_answer]
        alone = f" re-ranked; the network alone: {text(prediction.reader_answer)} {own:.3f}"
    said = f'<div><h2>{text(prediction.answer)}</h2><p class="verdict">probability {probability:.3f}{alone}</p></div>'
    asked = document_page.sentences(query).replace('class="sentences', 'class="query sentences', 1)
    return page.article(
        f"<header>{said}\n{document_page.classes(document)}</header>\n{asked}\n{document_page.sentences(document)}",
        label=prediction.answer,
    )
