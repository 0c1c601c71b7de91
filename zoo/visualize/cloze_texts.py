"""A question as the parts take it that draw documents: sentences with their share of the attention, and their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoo.data.cloze.question import BLANK
from zoo.tasks.classification import AttendedSentence, DocumentPrediction

if TYPE_CHECKING:
    from zoo.tasks.cloze import ClozePrediction, ReadText

WEIGHING = "joint"
"""Words are shown by their share of the attention to the whole document: of one sum each candidate gets its part."""


def document_of(prediction: ClozePrediction) -> DocumentPrediction:
    """The document cut into its sentences. The weight of a sentence is what its words have together, theirs are shares
    of it."""
    begins = [0, *prediction.sentence_ends[:-1]]
    sentences = tuple(
        _sentence(prediction.document, begin, end)
        for begin, end in zip(begins, prediction.sentence_ends, strict=True)
        if begin < end
    )
    return DocumentPrediction(prediction.answer, prediction.probabilities, sentences)


def query_of(prediction: ClozePrediction) -> DocumentPrediction:
    """The query as one sentence; its words have their own weights, if any. The blank is no unknown word."""
    query = prediction.query
    unknown = tuple(place for place in query.unknown if query.words[place] != BLANK)
    sentence = AttendedSentence(query.words, None, query.weights, unknown)
    return DocumentPrediction(prediction.answer, prediction.probabilities, (sentence,))


def evidence_of(prediction: ClozePrediction, evidence: tuple[bool, ...]) -> list[tuple[bool, ...]]:
    """The marks of the document's words, sentence by sentence."""
    begins = [0, *prediction.sentence_ends[:-1]]
    ends = zip(begins, prediction.sentence_ends, strict=True)
    return [evidence[begin:end] for begin, end in ends if begin < end]


def _sentence(document: ReadText, begin: int, end: int) -> AttendedSentence:
    unknown = tuple(place - begin for place in document.unknown if begin <= place < end)
    if document.weights is None:
        return AttendedSentence(document.words[begin:end], None, None, unknown)
    weights = document.weights[begin:end]
    total = sum(weights)
    shares = tuple(weight / total if total else 0.0 for weight in weights)
    return AttendedSentence(document.words[begin:end], total, shares, unknown)
