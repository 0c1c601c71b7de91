"""The bases of tasks whose network gives scores in one pass: any scores, and one class per example."""

from __future__ import annotations

from abc import abstractmethod
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


class Scoring(Task):
    """Any network with scores in `logits`, trained by the mean of a loss.

    A subclass defines `total_loss()`, and `score()` for the metrics that it adds to `metrics()`; beside these `name`,
    `headline`, `view`, `monitors`, `predictions()` and `examine()`, as every task.
    """

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.train_loss = MeanMetric()

    def metrics(self) -> dict[str, Metric]:
        return {"loss": MeanMetric()}

    @abstractmethod
    def total_loss(self, output: Output, batch: Any) -> Tensor:
        """The sum of the losses of the examples of a batch."""

    def counted(self, output: Output, batch: Any) -> int | Tensor:
        """The number of examples whose losses are in `total_loss`."""
        return len(batch)

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        output, size = self(batch), len(batch)
        total, count = self.total_loss(output, batch), self.counted(output, batch)
        some = count if isinstance(count, int) else count.clamp(min=1)
        own = self.own_losses(output, size)
        self.train_loss.update(total.detach() / some + own.detach(), count)
        self.log("train/loss", self.train_loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=size)
        return self.global_mean(total, some) + own

    def evaluate(self, batch: Any, stage: str, metrics: nn.ModuleDict) -> Output:
        output, size = self(batch), len(batch)
        total, count = self.total_loss(output, batch), self.counted(output, batch)
        some = count if isinstance(count, int) else count.clamp(min=1)
        self.record(stage, metrics, "loss", size, total / some, count)
        self.score(stage, metrics, batch, output)
        return output

    @abstractmethod
    def score(self, stage: str, metrics: nn.ModuleDict, batch: Any, output: Output) -> None:
        """Update the metrics besides the loss from `output`."""


class SingleLabel(Scoring):
    """Any network whose `logits` (B, C) are scores of classes, trained by cross-entropy. The data's spec names the
    `classes`, and `label` (B,) of a batch holds the class numbers. A test counts its confusion matrix.

    A subclass defines `name`, `view`, `predictions()` and `examine()`, as every task does. One with further metrics
    adds them to `metrics()`, `monitors` and `headline`, and extends `score()`.
    """

    headline: tuple[str, ...] = ("accuracy", "macro_f1")
    monitors: ClassVar = {"loss": "min", "accuracy": "max", "macro_f1": "max"}
    on_bar: tuple[str, ...] = ("loss", "accuracy")

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.test_confusion = MulticlassConfusionMatrix(len(self.spec.classes))

    def metrics(self) -> dict[str, Metric]:
        f1 = MulticlassF1Score(len(self.spec.classes), average="macro")
        return {**super().metrics(), "accuracy": Accuracy(), "macro_f1": f1}

    def total_loss(self, output: Output, batch: Any) -> Tensor:
        return F.cross_entropy(precise(output.logits), batch.label, reduction="sum")

    def on_test_start(self) -> None:
        super().on_test_start()
        self.test_confusion.reset()  # Lightning resets the others, since they are logged

    def test_step(self, batch: Any, batch_idx: int) -> None:
        output = self.evaluate(batch, "test", self.test_metrics)
        self.test_confusion.update(precise(output.logits), batch.label)

    def score(self, stage: str, metrics: nn.ModuleDict, batch: Any, output: Output) -> None:
        for name in ("accuracy", "macro_f1"):
            self.record(stage, metrics, name, len(batch), precise(output.logits), batch.label)
