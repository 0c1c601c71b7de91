"""Documents to classes, and whether attention found the evidence."""

from typing import ClassVar

from torch import Tensor
from torchmetrics import Metric

from zoo.data.documents.batch import DocumentBatch
from zoo.metrics import AttentionRecall
from zoo.models.output import Output
from zoo.predicting.classification import ClassificationPredictions
from zoo.tasks.scoring import SingleLabel


def word_importance(attention: dict[str, Tensor]) -> Tensor | None:
    """The share of the document's attention on each word, (B, S, W), summing to 1: sentence weight times word
    weight."""
    if "word" not in attention:
        return None
    return attention["word"] * attention["sentence"][..., None] if "sentence" in attention else attention["word"]


class Classification(ClassificationPredictions, SingleLabel):
    """Any network that serves `classification` of documents."""

    headline = (*SingleLabel.headline, "attention_recall")
    monitors: ClassVar = {**SingleLabel.monitors, "attention_recall": "max", "sentence_recall": "max"}

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
