"""The classes of documents, and what the network attended to."""

from dataclasses import dataclass
from typing import Any, ClassVar

from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.precision import precise
from zoo.predicting.deciding import Deciding
from zoo.predicting.predicting import Examined, Prediction, marked, names_at


@dataclass(frozen=True)
class AttendedSentence:
    """A sentence as the network read it."""

    words: tuple[str, ...]
    weight: float | None  # Attention to the sentence within its document; None where the network has none
    word_weights: tuple[float, ...] | None  # Attention to each word within its sentence; they sum to 1
    unknown: tuple[int, ...] = ()  # Positions of the words that the network does not know


@dataclass(frozen=True)
class DocumentPrediction(Prediction):
    """The class of one document, and what the network attended to."""

    label: str
    probabilities: dict[str, float]
    sentences: tuple[AttendedSentence, ...]


@dataclass(frozen=True)
class ExaminedDocument(Examined):
    """A document of a split, with its predicted and its true class."""

    prediction: DocumentPrediction
    evidence: list[list[bool]] | None
    """True at the words that decided the label, sentence by sentence; None where the data do not have them."""


class ClassificationPredictions(Deciding):
    """The classes that any network for `classification` gives to documents."""

    name = "classification"
    view: ClassVar[str] = "zoo.visualize.classification.ClassificationView"
    spec: DocumentSpec

    def predictions(self, batch: DocumentBatch, words: list[Any]) -> list[DocumentPrediction]:
        """Classes and attention; `words` are the documents as they should be shown, lists of sentences, which are
        lists of words."""
        output = self.predict_step(batch)
        decided = self.decide(output.logits).tolist()
        probabilities = precise(output.logits).softmax(-1).tolist()
        weights = {name: part.tolist() for name, part in output.attention.items()}
        sentence_weights, word_weights = weights.get("sentence"), weights.get("word")
        unknown = (batch.words == self.spec.unknown).tolist()
        return [
            DocumentPrediction(
                label=self.spec.classes[decided[b]],
                probabilities=dict(zip(self.spec.classes, row, strict=True)),
                sentences=tuple(
                    AttendedSentence(
                        words=tuple(sentence),
                        weight=sentence_weights[b][s] if sentence_weights else None,
                        word_weights=tuple(word_weights[b][s][: len(sentence)]) if word_weights else None,
                        unknown=marked(unknown[b][s], len(sentence)),
                    )
                    for s, sentence in enumerate(words[b])
                ),
            )
            for b, row in enumerate(probabilities)
        ]

    def examine(self, batch: DocumentBatch) -> list[ExaminedDocument]:
        assert batch.text is not None, "a split that is evaluated has the words"
        evidence = None
        if batch.evidence is not None:
            documents = zip(batch.text, batch.evidence.tolist(), strict=True)
            evidence = [
                [row[: len(sentence)] for sentence, row in zip(document, rows, strict=False)]
                for document, rows in documents
            ]
        return self.examined(ExaminedDocument, batch, batch.text, names_at(batch.label, self.spec.classes), evidence)
