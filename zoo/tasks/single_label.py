"""The base of the tasks whose network gives an example one class."""

import logging
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Unpack

import torch
import torch.nn.functional as F
from annotated_types import Gt, Lt
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.classification import BinaryF1Score, MulticlassConfusionMatrix, MulticlassF1Score

from zoo.arguments import Positive
from zoo.arguments import Share as Smoothing
from zoo.data.batch import Spec
from zoo.errors import CheckpointError, ConfigError, did_you_mean
from zoo.metrics import Share
from zoo.metrics.classes import BestThreshold, Reliability, by_class, calibration_error
from zoo.models.output import Output
from zoo.precision import precise
from zoo.predicting.deciding import BEST_F1, Deciding
from zoo.tasks.scoring import Scoring
from zoo.tasks.task import TaskArguments, computed
from zoo.values import hold

log = logging.getLogger(__name__)

ClassWeights = Literal["balanced"] | dict[str, Positive] | None
Threshold = Annotated[float, Gt(0), Lt(1)] | Literal["f1"] | None


class SingleLabelArguments(TaskArguments, total=False):
    """The arguments of every task in which an example has one class."""

    class_weights: ClassWeights
    label_smoothing: Smoothing
    threshold: Threshold


class SingleLabel(Deciding, Scoring):
    """Any network whose `logits` (B, C) are scores of classes, trained by cross-entropy. The data's spec names the
    `classes`, and `label` (B,) of a batch holds the class numbers. A test counts its confusion matrix and how reliable
    the probabilities are.

    A subclass defines `name`, `view`, `predictions()` and `examine()`, as every task does. One with further metrics
    adds them to `metrics()`, `monitors` and `headline`, and extends `score()`.
    """

    headline: tuple[str, ...] = ("accuracy", "macro_f1")
    monitors: ClassVar = {"loss": "min", "accuracy": "max", "macro_f1": "max", "f1": "max"}
    on_bar: tuple[str, ...] = ("loss", "accuracy")

    def __init__(
        self,
        *,
        class_weights: ClassWeights = None,
        label_smoothing: Smoothing = 0.0,
        threshold: Threshold = None,
        **rest: Unpack[TaskArguments],
    ) -> None:
        """Set the training loss and the decision.

        Args:
            class_weights: the weight of each class in the loss, 1 for classes that are not named; or `balanced`,
                n / (C n_c) for the n examples of C classes of the training split.
            label_smoothing: the share of a label's probability that is spread evenly over all classes in the loss.
            threshold: see `Deciding`.
        """
        hold("class_weights", class_weights, ClassWeights)
        hold("label_smoothing", label_smoothing, Smoothing)
        hold("threshold", threshold, Threshold)
        super().__init__(**rest)
        self.class_weight: Tensor | None
        self.register_buffer("class_weight", None, persistent=False)

    @classmethod
    def check(cls, cfg: Any, model: Any) -> None:
        super().check(cfg, model)
        if cfg.train and cfg.task.get("threshold") == BEST_F1 and cfg.trainer.get("limit_val_batches") == 0:
            raise ConfigError(
                "task.threshold=f1: a validation chooses it, and trainer.limit_val_batches=0 leaves validation out; "
                "remove one of the two keys"
            )

    # building

    def build(self, spec: Spec, encoder: Any) -> None:
        super().build(spec, encoder)
        self.test_confusion = MulticlassConfusionMatrix(len(self.spec.classes))
        self.test_reliability, self.best_threshold = Reliability(), BestThreshold()
        self.confusion: Tensor | None = None  # (C, C) counts of the last test, by true class and predicted class
        self._undecided: list[tuple[Tensor, Tensor]] = []  # Scores and labels of a validation that chooses a threshold

    def metrics(self) -> dict[str, Metric]:
        count = len(self.spec.classes)
        found = {**super().metrics(), "accuracy": Share(), "macro_f1": MulticlassF1Score(count, average="macro")}
        return found | ({"f1": BinaryF1Score()} if count == 2 else {})

    def prepare_training(self) -> None:
        super().prepare_training()
        if (chosen := self.hparams["class_weights"]) is None:
            return
        named = balanced(self._counts()) if chosen == "balanced" else {str(key): one for key, one in chosen.items()}
        if unknown := [name for name in named if name not in self.spec.classes]:
            hint = did_you_mean(unknown[0], self.spec.classes)
            raise ConfigError(f"task.class_weights: the data have no class {unknown[0]!r}; {hint}")
        weights = {name: named.get(name, 1.0) for name in self.spec.classes}
        self.class_weight = torch.tensor(list(weights.values()), dtype=torch.float32)
        log.info("weights of classes: %s", ", ".join(f"{name} {weight:.4g}" for name, weight in weights.items()))

    def _counts(self) -> Mapping[str, int]:
        """The number of training examples of each class."""
        data = self.trainer.datamodule  # type: ignore[attr-defined]
        counts = data.describe()["splits"].get("train", {}).get("classes")
        if counts is None:
            raise ConfigError(
                f"task.class_weights=balanced: data={data.name} does not count the examples of each class; give the "
                "weights by name, {class: weight}"
            )
        return counts

    # loss

    def total_loss(self, output: Output, batch: Any) -> Tensor:
        return F.cross_entropy(precise(output.logits), batch.label, reduction="sum")

    def objective(self, output: Output, batch: Any) -> tuple[Tensor, int | Tensor]:
        """The cross-entropy with `class_weights` and `label_smoothing`, which is divided by the sum of the weights of
        the labels, as in `torch.nn.CrossEntropyLoss`. Validation and test report the plain cross-entropy, so that runs
        can be compared."""
        smoothing, weight = self.hparams["label_smoothing"], self.class_weight
        if weight is None and not smoothing:
            return super().objective(output, batch)
        logits = precise(output.logits)
        weight = None if weight is None else weight.to(logits.dtype)
        total = F.cross_entropy(logits, batch.label, weight, reduction="sum", label_smoothing=smoothing)
        return total, self.counted(output, batch) if weight is None else weight[batch.label].sum()

    # evaluation

    def score(self, stage: str, batch: Any, output: Output) -> None:
        if stage == "val" and self.hparams["threshold"] == BEST_F1:
            logits = precise(output.logits)
            self.best_threshold.update(logits.softmax(1)[:, 1], batch.label)
            self._undecided.append((logits, batch.label))
        else:
            self._judge(stage, self.decide(output.logits), batch.label)

    def _judge(self, stage: str, decided: Tensor, label: Tensor) -> None:
        """Record whether the classes (B,) that were decided for are right."""
        self.record(stage, "accuracy", decided == label)
        self.record(stage, "macro_f1", decided, label)
        if len(self.spec.classes) == 2:
            self.record(stage, "f1", decided, label)

    def on_validation_epoch_end(self) -> None:
        """Choose the threshold, and judge the validation by it."""
        super().on_validation_epoch_end()
        if self.hparams["threshold"] == BEST_F1:
            chosen = computed(self.best_threshold).item()
            if not self.trainer.sanity_checking:
                self.threshold = chosen
            for logits, label in self._undecided:
                self._judge("val", self.decide(logits), label)
            self._undecided.clear()

    def on_test_start(self) -> None:
        super().on_test_start()
        if self.hparams["threshold"] == BEST_F1 and self.threshold is None:
            raise CheckpointError(
                "task.threshold=f1: no validation has chosen a threshold for these weights; train with "
                "task.threshold=f1, or give a number"
            )

    def test_step(self, batch: Any, batch_idx: int) -> None:
        output = self.evaluate(batch, "test")
        self.test_confusion.update(self.decide(output.logits), batch.label)
        self.test_reliability.update(precise(output.logits).softmax(1), batch.label)

    def on_test_epoch_end(self) -> None:
        super().on_test_epoch_end()
        self.confusion, self.reliability = computed(self.test_confusion).cpu(), computed(self.test_reliability).cpu()
        self.log("test/ece", calibration_error(self.reliability).float())

    def facts(self) -> dict[str, Any]:
        """The figures of each class in the test, and the threshold."""
        if self.confusion is None:  # trainer.limit_test_batches=0
            return super().facts()
        columns = {name: column.tolist() for name, column in by_class(self.confusion).items()}
        rows = zip(self.spec.classes, *columns.values(), strict=True)
        classes = {name: dict(zip(columns, row, strict=True)) for name, *row in rows}
        return super().facts() | self.rule() | {"classes": classes}

    def remarks(self, metrics: Mapping[str, float]) -> dict[str, str]:
        found = super().remarks(metrics)
        if self.threshold is None:
            return found
        return found | {"test/accuracy": f"{self.spec.classes[1]} from a probability of {self.threshold:g} on"}


def balanced(counts: Mapping[str, int]) -> dict[str, float]:
    """Return the weight n / (C n_c) of each class with n_c of n examples, where C is the number of classes that occur
    (King and Zeng 2001; `balanced` in scikit-learn). The weights of all examples have the mean 1. A class that does not
    occur has the weight 1."""
    occurring = [count for count in counts.values() if count]
    mean = sum(occurring) / len(occurring)
    return {name: mean / count if count else 1.0 for name, count in counts.items()}
