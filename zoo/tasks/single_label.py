"""The base of tasks that give an example one class: cross-entropy, accuracy, macro-F1, the confusion matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import torch.nn.functional as F
from torch import Tensor, nn
from torchmetrics import MeanMetric, Metric
from torchmetrics.classification import MulticlassConfusionMatrix, MulticlassF1Score

from zoo.data.spec import Spec
from zoo.metrics.ratios import Accuracy
from zoo.models.output import Output
from zoo.precision import precise
from zoo.tasks.task import Task


class SingleLabel(Task):
    """Any network whose `logits` (B, C) are scores of classes, trained by cross-entropy. The data's spec names the
    `classes`, and `label` (B,) of a batch holds the class numbers.

    A subclass defines `name`, `view`, `predictions()` and `examine()`, as every task does. One with further metrics
    adds them to `metrics()`, `monitors` and `headline`, and updates them in `score_more()`.
    """

    headline: tuple[str, ...] = ("accuracy", "macro_f1")
    monitors: ClassVar = {"loss": "min", "accuracy": "max", "macro_f1": "max"}
    on_bar: ClassVar[tuple[str, ...]] = ("loss", "accuracy")
    spec: Any
    """A `Spec` with `classes`, their names by number."""

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.train_loss = MeanMetric()
        self.val_metrics, self.test_metrics = nn.ModuleDict(self.metrics()), nn.ModuleDict(self.metrics())
        self.test_confusion = MulticlassConfusionMatrix(len(self.spec.classes))

    def metrics(self) -> dict[str, Metric]:
        """Metrics without counts, by the names that they are logged under."""
        classes = len(self.spec.classes)
        return {
            "loss": MeanMetric(),
            "accuracy": Accuracy(classes),
            "macro_f1": MulticlassF1Score(classes, average="macro"),
        }

    def forward(self, batch: Any) -> Output:
        assert self.network is not None
        return self.network(batch)

    # training

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        output, size = self(batch), len(batch)
        total = F.cross_entropy(precise(output.logits), batch.label, reduction="sum")
        own = self.own_losses(output, size)
        self.train_loss.update(total.detach() / size + own.detach(), size)
        self.log("train/loss", self.train_loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=size)
        return self.global_mean(total, size) + own

    # evaluation

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self._evaluate(batch, "val", self.val_metrics)

    def on_test_start(self) -> None:
        super().on_test_start()
        self.test_confusion.reset()  # Lightning resets the others, since they are logged

    def test_step(self, batch: Any, batch_idx: int) -> None:
        logits = self._evaluate(batch, "test", self.test_metrics)
        self.test_confusion.update(logits, batch.label)

    def _evaluate(self, batch: Any, stage: str, metrics: nn.ModuleDict) -> Tensor:
        output, size = self(batch), len(batch)
        logits = precise(output.logits)
        self.record(stage, metrics, "loss", size, F.cross_entropy(logits, batch.label), size)
        self.record(stage, metrics, "accuracy", size, logits, batch.label)
        self.record(stage, metrics, "macro_f1", size, logits, batch.label)
        self.score_more(stage, metrics, batch, output)
        return logits

    def score_more(self, stage: str, metrics: nn.ModuleDict, batch: Any, output: Output) -> None:
        """Update further metrics from `output`; there are none here."""

    def predict_step(self, batch: Any, batch_idx: int = 0) -> Output:
        return self(batch)
