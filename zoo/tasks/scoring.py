"""Bases of the tasks whose network gives scores in one pass, trained by the mean of a loss: any scores, or those of one
class for each example."""

from abc import abstractmethod
from typing import Any, ClassVar

import torch.nn.functional as F
from torch import Tensor
from torchmetrics import MeanMetric, Metric
from torchmetrics.classification import MulticlassConfusionMatrix, MulticlassF1Score

from zoo.data.batch import Spec
from zoo.metrics import Share
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

    def _losses(self, output: Output, batch: Any) -> tuple[Tensor, int | Tensor, int | Tensor]:
        """The sum of the losses, the number of examples, and that number or 1, to divide by."""
        count = self.counted(output, batch)
        return self.total_loss(output, batch), count, count if isinstance(count, int) else count.clamp(min=1)

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        output = self(batch)
        total, count, some = self._losses(output, batch)
        own = self.own_losses(output, len(batch))
        self.train_loss.update(total.detach() / some + own.detach(), count)
        self.log("train/loss", self.train_loss, on_step=False, on_epoch=True, prog_bar=True)
        return self.global_mean(total, some) + own

    def evaluate(self, batch: Any, stage: str) -> Output:
        output = self(batch)
        total, count, some = self._losses(output, batch)
        self.record(stage, "loss", total / some, count)
        self.score(stage, batch, output)
        return output

    @abstractmethod
    def score(self, stage: str, batch: Any, output: Output) -> None:
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
        return {**super().metrics(), "accuracy": Share(), "macro_f1": f1}

    def total_loss(self, output: Output, batch: Any) -> Tensor:
        return F.cross_entropy(precise(output.logits), batch.label, reduction="sum")

    def on_test_start(self) -> None:
        super().on_test_start()
        self.test_confusion.reset()  # Lightning resets the others, since they are logged

    def test_step(self, batch: Any, batch_idx: int) -> None:
        output = self.evaluate(batch, "test")
        self.test_confusion.update(precise(output.logits), batch.label)

    def score(self, stage: str, batch: Any, output: Output) -> None:
        logits = precise(output.logits)
        self.record(stage, "accuracy", logits.argmax(1) == batch.label)
        self.record(stage, "macro_f1", logits, batch.label)
