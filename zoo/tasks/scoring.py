"""The base of tasks whose network gives scores in one pass, trained by the mean of a loss over the examples."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from torch import Tensor, nn
from torchmetrics import MeanMetric, Metric

from zoo.data.spec import Spec
from zoo.models.output import Output
from zoo.tasks.task import Task


class Scoring(Task):
    """Any network with scores in `logits`.

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

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        output, size = self(batch), len(batch)
        total = self.total_loss(output, batch)
        own = self.own_losses(output, size)
        self.log_loss(total.detach() / size + own.detach(), size, size)
        return self.global_mean(total, size) + own

    def log_loss(self, losses: Tensor, weights: int | Tensor, size: int) -> None:
        """Log losses of a batch of `size` as `train/loss`, their weighted mean over the epoch."""
        self.train_loss.update(losses, weights)
        self.log("train/loss", self.train_loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=size)

    def evaluate(self, batch: Any, stage: str, metrics: nn.ModuleDict) -> Output:
        output, size = self(batch), len(batch)
        self.record(stage, metrics, "loss", size, self.total_loss(output, batch) / size, size)
        self.score(stage, metrics, batch, output)
        return output

    @abstractmethod
    def score(self, stage: str, metrics: nn.ModuleDict, batch: Any, output: Output) -> None:
        """Update the metrics besides the loss from `output`."""
