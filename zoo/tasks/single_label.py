"""One class per example: cross-entropy, accuracy, macro-F1, the confusion matrix."""

from typing import Any, ClassVar

import torch.nn.functional as F
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.classification import MulticlassConfusionMatrix, MulticlassF1Score

from zoo.data.spec import Spec
from zoo.metrics import Share
from zoo.models.output import Output
from zoo.precision import precise
from zoo.tasks.scoring import Scoring


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
