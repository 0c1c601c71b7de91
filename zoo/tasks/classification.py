"""Documents to classes: cross-entropy, accuracy, macro-F1, confusion matrix, and whether attention found the
evidence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchmetrics import MeanMetric, Metric
from torchmetrics.classification import MulticlassAccuracy, MulticlassConfusionMatrix, MulticlassF1Score

from zoo.data.documents.batch import DocumentBatch
from zoo.data.documents.spec import DocumentSpec
from zoo.data.spec import Spec
from zoo.metrics import AttentionRecall, uniform_weights
from zoo.models.output import Output
from zoo.tasks.task import Examined, Task


@dataclass(frozen=True)
class AttendedSentence:
    """A sentence as the network read it."""

    words: tuple[str, ...]
    weight: float | None
    """Attention to the sentence within its document; None where the network has none."""
    word_weights: tuple[float, ...] | None
    """Attention to each word within its sentence; they sum to 1."""
    unknown: tuple[int, ...] = ()
    """Positions of the words that the network does not know."""


@dataclass(frozen=True)
class DocumentPrediction:
    """The class of one document, and what the network attended to."""

    label: str
    probabilities: dict[str, float]
    sentences: tuple[AttendedSentence, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`."""
        return asdict(self)


@dataclass(frozen=True)
class ExaminedDocument(Examined):
    """A document of a split, its class as said and its true one."""

    prediction: DocumentPrediction
    evidence: list[list[bool]] | None
    """True at the words that decided the label, sentence by sentence; None where the data does not know them."""


def word_importance(attention: dict[str, Tensor]) -> Tensor | None:
    """The share of the document's attention on each word, (B, S, W), summing to 1: sentence weight times word
    weight."""
    if "word" not in attention:
        return None
    return attention["word"] * attention["sentence"][..., None] if "sentence" in attention else attention["word"]


class Classification(Task):
    """Any network that serves `classification`, trained by cross-entropy."""

    name = "classification"
    headline = ("accuracy", "macro_f1", "attention_recall")
    view: ClassVar[str] = "zoo.visualize.classification.ClassificationView"
    monitors: ClassVar = {
        "loss": "min",
        "accuracy": "max",
        "macro_f1": "max",
        "attention_recall": "max",
        "sentence_recall": "max",
    }
    spec: DocumentSpec | None

    def build(self, spec: Spec, encoder: Any) -> None:
        assert isinstance(spec, DocumentSpec)
        super().build(spec, encoder)
        self.train_loss = MeanMetric()
        self.val_metrics = self._metrics(spec.num_classes)
        self.test_metrics = self._metrics(spec.num_classes)
        self.test_confusion = MulticlassConfusionMatrix(spec.num_classes)

    @staticmethod
    def _metrics(classes: int) -> nn.ModuleDict:
        return nn.ModuleDict(
            {
                "loss": MeanMetric(),
                "accuracy": MulticlassAccuracy(classes, average="micro"),
                "macro_f1": MulticlassF1Score(classes, average="macro"),
                "attention_recall": AttentionRecall(),
                "sentence_recall": AttentionRecall(),
                "attention_chance": AttentionRecall(),
            }
        )

    def forward(self, batch: DocumentBatch) -> Output:
        assert self.network is not None
        return self.network(batch)

    def training_step(self, batch: DocumentBatch, batch_idx: int) -> Tensor:
        output = self(batch)
        assert batch.label is not None
        total = F.cross_entropy(_precise(output.logits), batch.label, reduction="sum")
        self.train_loss.update(total.detach() / len(batch), len(batch))
        self.log("train/loss", self.train_loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=len(batch))
        return self.global_mean(total, len(batch)) + sum(output.losses.values())

    def validation_step(self, batch: DocumentBatch, batch_idx: int) -> None:
        self._evaluate(batch, "val", self.val_metrics)

    def on_test_start(self) -> None:
        self.test_confusion.reset()  # the others are logged, and so reset by Lightning

    def test_step(self, batch: DocumentBatch, batch_idx: int) -> None:
        logits = self._evaluate(batch, "test", self.test_metrics)
        assert batch.label is not None
        self.test_confusion.update(logits, batch.label)

    def _evaluate(self, batch: DocumentBatch, stage: str, metrics: nn.ModuleDict) -> Tensor:
        output = self(batch)
        assert batch.label is not None
        logits = _precise(output.logits)

        def log(name: str, *values: Tensor | int) -> None:
            metric = metrics[name]
            assert isinstance(metric, Metric)
            metric.update(*values)
            self.log(
                f"{stage}/{name}", metric, prog_bar=name in ("loss", "accuracy"), on_epoch=True, batch_size=len(batch)
            )

        log("loss", F.cross_entropy(logits, batch.label), len(batch))
        log("accuracy", logits, batch.label)
        log("macro_f1", logits, batch.label)
        importance = word_importance(output.attention)
        if batch.evidence is not None and importance is not None:
            log("attention_recall", importance, batch.evidence)
            log("attention_chance", uniform_weights(batch.word_mask), batch.evidence)
            if "sentence" in output.attention:
                log("sentence_recall", output.attention["sentence"], batch.evidence.any(-1))
        return logits

    def predict_step(self, batch: DocumentBatch, batch_idx: int = 0) -> Output:
        return self(batch)

    def predictions(self, batch: DocumentBatch, words: list[Any]) -> list[DocumentPrediction]:
        """Classes and attention; `words` are the documents as they should be shown, lists of sentences, which are
        lists of words."""
        output = self.predict_step(batch)
        probabilities = _precise(output.logits).softmax(-1).tolist()
        sentence_weights = output.attention["sentence"].tolist() if "sentence" in output.attention else None
        word_weights = output.attention["word"].tolist() if "word" in output.attention else None
        assert self.spec is not None
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
                        unknown=tuple(i for i in range(len(sentence)) if unknown[b][s][i]),
                    )
                    for s, sentence in enumerate(words[b])
                ),
            )
            for b, row in enumerate(probabilities)
        ]

    def examine(self, batch: DocumentBatch) -> list[ExaminedDocument]:
        assert self.spec is not None
        documents: Any = batch.text
        if documents is None:
            known = self.encoder.vocabulary.words
            documents = [
                [[known[number] for number in sentence] for sentence in _real(words, mask)]
                for words, mask in zip(batch.words, batch.word_mask, strict=True)
            ]
        return [
            ExaminedDocument(
                index=int(batch.index[b]),
                prediction=prediction,
                truth=None if batch.label is None else self.spec.classes[int(batch.label[b])],
                evidence=None if batch.evidence is None else _real(batch.evidence[b], batch.word_mask[b]),
            )
            for b, prediction in enumerate(self.predictions(batch, documents))
        ]


def _precise(scores: Tensor) -> Tensor:
    """In float32 at least."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


def _real(values: Tensor, mask: Tensor) -> list[list]:
    """The entries of one document (S, W) without padding: a list per sentence, up to the last that has a word."""
    lengths = mask.sum(-1).tolist()
    while lengths and lengths[-1] == 0:
        lengths.pop()
    return [row[:length] for row, length in zip(values.tolist(), lengths, strict=False)]
