"""Documents to classes, and whether attention found the evidence."""

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor
from torchmetrics import Metric

from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.metrics import AttentionRecall
from zoo.models.output import Output
from zoo.precision import precise
from zoo.tasks.scoring import SingleLabel
from zoo.tasks.task import Examined, Prediction, marked, names_at


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


def word_importance(attention: dict[str, Tensor]) -> Tensor | None:
    """The share of the document's attention on each word, (B, S, W), summing to 1: sentence weight times word
    weight."""
    if "word" not in attention:
        return None
    return attention["word"] * attention["sentence"][..., None] if "sentence" in attention else attention["word"]


class Classification(SingleLabel):
    """Any network that serves `classification` of documents."""

    name = "classification"
    headline = (*SingleLabel.headline, "attention_recall")
    view: ClassVar[str] = "zoo.visualize.classification.ClassificationView"
    monitors: ClassVar = {**SingleLabel.monitors, "attention_recall": "max", "sentence_recall": "max"}
    spec: DocumentSpec

    def metrics(self) -> dict[str, Metric]:
        names = ("attention_recall", "sentence_recall", "attention_chance")
        return {**super().metrics(), **{name: AttentionRecall() for name in names}}

    def score(self, stage: str, batch: DocumentBatch, output: Output) -> None:
        super().score(stage, batch, output)
        importance = word_importance(output.attention)
        if batch.evidence is not None and importance is not None:
            self.record_recall(stage, "attention", importance, batch.evidence, batch.word_mask)
            if "sentence" in output.attention:
                self.record(stage, "sentence_recall", output.attention["sentence"], batch.evidence.any(-1))

    def predictions(self, batch: DocumentBatch, words: list[Any]) -> list[DocumentPrediction]:
        """Classes and attention; `words` are the documents as they should be shown, lists of sentences, which are
        lists of words."""
        output = self.predict_step(batch)
        probabilities = precise(output.logits).softmax(-1).tolist()
        weights = {name: part.tolist() for name, part in output.attention.items()}
        sentence_weights, word_weights = weights.get("sentence"), weights.get("word")
        unknown = (batch.words == self.spec.unknown).tolist()
        return [
            DocumentPrediction(
                label=self.spec.classes[max(range(len(row)), key=row.__getitem__)],
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
