"""The likelihood of pictures by any network that predicts each value from those before it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Unpack

import torch
from torch import Tensor
from torchmetrics import Metric

from zoo.arguments import Count, Natural, Positive
from zoo.data.pictures.batch import PictureBatch
from zoo.metrics import Bits
from zoo.metrics.ratios import Mean, Share
from zoo.predicting.density import DensityPredictions, surprisal
from zoo.tasks.judge import Judge
from zoo.tasks.picture_baselines import logistic_regression
from zoo.tasks.task import Task, TaskArguments

log = logging.getLogger(__name__)


class Density(DensityPredictions, Task):
    """Trains on the mean surprisal of a value, and measures the likelihood exactly: the surprisals of all values of a
    split are added up, and divided once.

    `nats` are those of a picture, and `bits_per_dim` those of a value. Where grey pictures became black and white, the
    name says how: `nats_fixed` or `nats_redrawn`. Where the distribution is known, a test also gives its entropy.

    A network that depends on the class of a picture also draws pictures in a test. A classifier learns in the same run,
    and `class_accuracy` is the share of pictures that it takes for the class that they were to show.
    """

    headline = ("bits_per_dim", "nats", "nats_fixed", "nats_redrawn", "class_accuracy")
    monitors: ClassVar[Mapping[str, str]] = {"bits_per_dim": "min"}
    on_bar = headline

    def __init__(
        self,
        *,
        samples: Natural = 16,
        temperature: Positive = 1.0,
        every_n_minutes: Positive = 2.0,
        baselines: bool = True,
        classified: Natural = 1000,
        classifier_steps: Count = 600,
        **rest: Unpack[TaskArguments],
    ) -> None:
        """
        Args:
            samples: the pictures that are drawn and completed for `samples.png` and `completed.png`.
            temperature: divides the scores of what is drawn.
            every_n_minutes: time between two drawings after a validation.
            baselines: a test also gives the entropy of the distribution, if it is known, and the likelihood of a
                logistic regression on the earlier pixels.
            classified: the pictures that a test draws for the classifier, of the classes of the first test pictures.
            classifier_steps: steps of the classifier.
            rest: the arguments of every task.
        """
        super().__init__(**rest)
        self.samples, self.temperature, self.every_n_minutes = samples, temperature, every_n_minutes
        self.classified, self.classifier_steps = classified, classifier_steps
        self.judge: Judge | None = None
        self._drawn_at = float("-inf")
        self._first: PictureBatch | None = None

    def build(self, spec: Any, encoder: Any) -> None:
        super().build(spec, encoder)
        if self.network.conditions == "label" and self.classified:
            self.test_metrics["class_accuracy"] = Share()

    @property
    def nats_name(self) -> str:
        """The name of the likelihood of a picture."""
        return "_".join(filter(None, ["nats", self.spec.binarised]))

    def metrics(self) -> dict[str, Metric]:
        return {"bits_per_dim": Bits(), self.nats_name: Mean()}

    def training_step(self, batch: PictureBatch, batch_idx: int) -> Tensor:
        output = self.network(batch)
        total, count = self._nats(output.logits, batch).sum(), batch.image.numel()
        own = self.own_losses(output, len(batch))
        loss = (total / count).detach() + own.detach()
        self.log("train/loss", loss, prog_bar=True, on_step=False, on_epoch=True, sync_dist=True, batch_size=len(batch))
        return self.global_mean(total, count) + self.shared(own, len(batch))

    def evaluate(self, batch: PictureBatch, stage: str) -> None:
        nats = self._nats(self.network(batch).logits, batch).double()
        self.record(stage, "bits_per_dim", nats.sum(), batch.image.numel())
        self.record(stage, self.nats_name, nats)
        if self._first is None:
            self._first = batch.first(max(1, self.samples))
        if "class_accuracy" in self.metrics_of(stage):
            self._classify(batch, stage)

    @staticmethod
    def _nats(scores: Tensor, batch: PictureBatch) -> Tensor:
        """(B,) -log p of each picture."""
        return surprisal(scores, batch.image).flatten(1).sum(1)

    # pictures

    def first(self) -> PictureBatch | None:
        """The first pictures of the split that was evaluated last. The next split has others."""
        first, self._first = self._first, None
        return first

    def like(self, batch: PictureBatch) -> PictureBatch:
        """As many empty pictures as a batch has, of its classes or factors where the network depends on them."""
        given = self.network.conditions
        labels = batch.label.tolist() if given == "label" and batch.label is not None else None
        return self.blank(labels, batch.factors if given == "factors" else None, len(batch))

    def due(self) -> bool:
        """Whether it is time to draw samples again."""
        if time.monotonic() - self._drawn_at < 60 * self.every_n_minutes:
            return False
        self._drawn_at = time.monotonic()
        return True

    # test

    def on_test_start(self) -> None:
        super().on_test_start()
        if "class_accuracy" in self.test_metrics:
            with torch.inference_mode(False):  # its weights will be trained
                self.judge = Judge(self.spec).to(self.device)
            self.judge.learn(self.trainer.datamodule, self.classifier_steps)  # type: ignore[attr-defined]

    def _classify(self, batch: PictureBatch, stage: str) -> None:
        """Draw pictures of the classes of a batch, as far as these are among the first, and classify them."""
        assert self.judge is not None and batch.label is not None
        first = batch.index < self.classified
        right = torch.zeros(0, dtype=torch.bool, device=self.device)  # every rank records the same metrics
        if first.any():
            label = batch.label[first]
            blank = replace(self.blank(label.tolist(), None, len(label)), index=batch.index[first])
            assert blank.known is not None
            drawn = self.draw(blank, blank.known)
            right = self.judge(drawn).argmax(1) == label
        self.record(stage, "class_accuracy", right)

    def facts(self) -> dict[str, Any]:
        """The classifier of what was drawn."""
        return super().facts() | ({} if self.judge is None else {"classifier": self.judge.name})

    def baselines(self, data: Any) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        if not self.hparams["baselines"]:
            return found
        bits = 1 / (self.spec.dimensions * torch.log(torch.tensor(2.0, dtype=torch.float64))).item()
        given = self.network.conditions
        for known in dict.fromkeys([None, given]):
            if (nats := data.entropy(known)) is not None:
                name = "entropy of the distribution" + (f" given its {known}" if known else "")
                found[name] = {self.nats_name: nats, "bits_per_dim": nats * bits}
        if (nats := logistic_regression(data, self.spec)) is not None:
            found["logistic regression on earlier pixels"] = {self.nats_name: nats, "bits_per_dim": nats * bits}
        return found
