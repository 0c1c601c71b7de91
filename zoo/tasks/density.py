"""The likelihood of pictures by any network that predicts each value from those before it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

import torch
from torch import Tensor
from torchmetrics import Metric

from zoo.arguments import Natural, Positive
from zoo.data.pictures.batch import PictureBatch
from zoo.metrics import Bits
from zoo.metrics.ratios import Mean
from zoo.predicting.density import DensityPredictions, surprisal
from zoo.tasks.picture_baselines import logistic_regression
from zoo.tasks.task import Task, TaskArguments

log = logging.getLogger(__name__)


class Density(DensityPredictions, Task):
    """Trains on the mean surprisal of a value, and measures the likelihood exactly: the surprisals of all values of a
    split are added up, and divided once.

    `nats` are those of a picture, and `bits_per_dim` those of a value. Where grey pictures became black and white, the
    name says how: `nats_fixed` or `nats_redrawn`. Where the distribution is known, a test also gives its entropy.
    """

    headline = ("bits_per_dim", "nats", "nats_fixed", "nats_redrawn")
    monitors: ClassVar[Mapping[str, str]] = {"bits_per_dim": "min"}
    on_bar = headline

    def __init__(
        self,
        *,
        samples: Natural = 16,
        temperature: Positive = 1.0,
        every_n_minutes: Positive = 2.0,
        baselines: bool = True,
        **rest: Unpack[TaskArguments],
    ) -> None:
        """
        Args:
            samples: the pictures that are drawn and completed for `samples.png` and `completed.png`.
            temperature: divides the scores of what is drawn.
            every_n_minutes: time between two drawings after a validation.
            baselines: a test also gives the entropy of the distribution, if it is known, and the likelihood of a
                logistic regression on the earlier pixels.
            rest: the arguments of every task.
        """
        super().__init__(**rest)
        self.samples, self.temperature, self.every_n_minutes = samples, temperature, every_n_minutes
        self._drawn_at = float("-inf")
        self._first: PictureBatch | None = None

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
