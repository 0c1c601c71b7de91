"""The base of tasks whose network gives scores in one pass, trained by the mean of a loss over the examples."""

from abc import abstractmethod
from typing import Any

from torch import Tensor
from torchmetrics import MeanMetric, Metric

from zoo.data.spec import Spec
from zoo.models.output import Output
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

    def evaluate(self, batch: Any, stage: str) -> Output:
        output = self(batch)
        total, count = self.total_loss(output, batch), self.counted(output, batch)
        some = count if isinstance(count, int) else count.clamp(min=1)
        self.record(stage, "loss", total / some, count)
        self.score(stage, batch, output)
        return output

    @abstractmethod
    def score(self, stage: str, batch: Any, output: Output) -> None:
        """Update the metrics besides the loss from `output`."""
