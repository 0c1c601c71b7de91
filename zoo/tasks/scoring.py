"""The base of the tasks whose network gives scores in one pass, trained by the mean of a loss."""

from abc import abstractmethod
from typing import Any

from torch import Tensor
from torchmetrics import MeanMetric, Metric

from zoo.data.batch import Spec
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

    def objective(self, output: Output, batch: Any) -> tuple[Tensor, int | Tensor]:
        """The sum that a training step minimises, and the number that it is divided by: those of the plain loss, unless
        a task trains by another loss than it reports for validation and test."""
        return self.total_loss(output, batch), self.counted(output, batch)

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        output = self(batch)
        total, count = self.objective(output, batch)
        some, own = _some(count), self.own_losses(output, len(batch))
        self.train_loss.update(total.detach() / some + own.detach(), count)
        self.log("train/loss", self.train_loss, on_step=False, on_epoch=True, prog_bar=True)
        return self.global_mean(total, some) + self.shared(own, len(batch))

    def evaluate(self, batch: Any, stage: str) -> Output:
        output = self(batch)
        total, count = self.total_loss(output, batch), self.counted(output, batch)
        self.record(stage, "loss", total / _some(count), count)
        self.score(stage, batch, output)
        return output

    @abstractmethod
    def score(self, stage: str, batch: Any, output: Output) -> None:
        """Update the metrics besides the loss from `output`."""


def _some(count: int | Tensor) -> int | Tensor:
    """A count to divide by: 1 in place of 0."""
    return count if isinstance(count, int) else count.masked_fill(count == 0, 1)
