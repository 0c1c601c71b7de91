"""The likelihood of sounds by any network that predicts each sample from those before it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import log
from typing import Any, ClassVar, Unpack

import torch
from torch import Tensor
from torchmetrics import Metric

from zoo.arguments import Count, Natural, Positive
from zoo.data.waves.batch import WaveBatch
from zoo.metrics import Bits
from zoo.metrics.ratios import Share, TokenLoss
from zoo.predicting.wave_density import WaveDensityPredictions, rows_of, silent, surprisal
from zoo.tasks.task import Task, TaskArguments
from zoo.tasks.wave_baselines import tables
from zoo.tasks.wave_judge import WaveJudge


class WaveDensity(WaveDensityPredictions, Task):
    """Trains on the mean surprisal of a sample, and measures the likelihood exactly: the surprisals of all samples of a
    split are added up, and divided once.

    `bits` and `nats` are those of a sample of the mu-law, so that figures for linear samples cannot be compared with
    them. `bits_silence` and `bits_sound` are those of the samples in silence and of all others. Where the distribution
    is known, a test also gives its entropy.

    A network that depends on the class of a sound also makes sounds in a test. A classifier learns in the same run, and
    `class_accuracy` is the share of sounds that it takes for the class that they were to have.
    """

    headline = ("bits", "nats", "bits_silence", "bits_sound", "class_accuracy")
    monitors: ClassVar[Mapping[str, str]] = {"bits": "min"}
    on_bar = ("bits",)

    def __init__(
        self,
        *,
        samples: Natural = 4,
        sample_seconds: Positive = 0.5,
        temperature: Positive = 1.0,
        every_n_minutes: Positive = 3.0,
        baselines: bool = True,
        classified: Natural = 100,
        classifier_steps: Count = 300,
        **rest: Unpack[TaskArguments],
    ) -> None:
        """
        Args:
            samples: the sounds that are made for `samples.png`.
            sample_seconds: their duration.
            temperature: divides the scores of what is made.
            every_n_minutes: time between two such pictures after a validation.
            baselines: a test also gives the bounds of the entropy, if they are known, and the likelihood of two tables.
            classified: the sounds that a test makes for the classifier, of the classes and durations of the first test
                sounds.
            classifier_steps: steps of the classifier.
            rest: the arguments of every task.
        """
        super().__init__(**rest)
        self.samples, self.sample_seconds, self.temperature = samples, sample_seconds, temperature
        self.every_n_minutes = every_n_minutes
        self.classified, self.classifier_steps = classified, classifier_steps
        self.judge: WaveJudge | None = None
        self._made_at = float("-inf")
        self._first: WaveBatch | None = None

    def build(self, spec: Any, encoder: Any) -> None:
        super().build(spec, encoder)
        if "label" in self.network.conditions and self.classified:
            self.test_metrics["class_accuracy"] = Share()

    def metrics(self) -> dict[str, Metric]:
        return {"bits": Bits(), "nats": TokenLoss(), "bits_silence": Bits(), "bits_sound": Bits()}

    def training_step(self, batch: WaveBatch, batch_idx: int) -> Tensor:
        output = self.network(batch)
        total, count = surprisal(output.logits, batch).sum(), batch.units
        own = self.own_losses(output, len(batch))
        loss = (total / count).detach() + own.detach()
        self.log("train/loss", loss, prog_bar=True, on_step=False, on_epoch=True, sync_dist=True, batch_size=len(batch))
        return self.global_mean(total, count) + self.shared(own, len(batch))

    def evaluate(self, batch: WaveBatch, stage: str) -> None:
        nats, quiet = surprisal(self.network(batch).logits, batch).double(), silent(batch, self.spec.rate)
        for name in ("bits", "nats"):
            self.record(stage, name, nats.sum(), batch.units)
        self.record(stage, "bits_silence", nats[quiet].sum(), quiet.sum())
        self.record(stage, "bits_sound", nats[~quiet].sum(), batch.units - quiet.sum())
        if self._first is None:
            self._first = batch.first(max(1, self.samples))
        if "class_accuracy" in self.metrics_of(stage):
            self._classify(batch, stage)

    # pictures

    def first(self) -> WaveBatch | None:
        """The first sounds of the split that was evaluated last. The next split has others."""
        first, self._first = self._first, None
        return first

    def due(self) -> bool:
        """Whether it is time to make samples again."""
        if time.monotonic() - self._made_at < 60 * self.every_n_minutes:
            return False
        self._made_at = time.monotonic()
        return True

    # test

    def on_test_start(self) -> None:
        super().on_test_start()
        if "class_accuracy" in self.test_metrics:
            with torch.inference_mode(False):  # its weights will be trained
                self.judge = WaveJudge(self.spec).to(self.device)
            self.judge.learn(self.trainer.datamodule, self.classifier_steps)  # type: ignore[attr-defined]

    def _classify(self, batch: WaveBatch, stage: str) -> None:
        """Make sounds like those of a batch, as far as these are among the first, and classify them."""
        assert self.judge is not None and batch.label is not None
        rows = (batch.index < self.classified).nonzero()[:, 0].tolist()
        right = torch.zeros(0, dtype=torch.bool, device=self.device)  # every rank records the same metrics
        if rows:
            true = rows_of(batch, rows)
            right = self.judge(self.judge.seen(self.make(self.blank(true)))).argmax(1) == true.label
        self.record(stage, "class_accuracy", right)

    def facts(self) -> dict[str, Any]:
        """The classifier of what was made."""
        return super().facts() | ({} if self.judge is None else {"classifier": self.judge.name})

    def baselines(self, data: Any) -> dict[str, dict[str, float]]:
        if not self.hparams["baselines"]:
            return {}
        found: dict[str, float] = {}
        if (bounds := data.entropy("test")) is not None:
            names = ("entropy, lower bound: of the noise", "entropy, upper bound: of noise and strokes")
            found.update(zip(names, bounds, strict=True))
        found |= tables(data)
        return {name: {"nats": nats, "bits": nats / log(2)} for name, nats in found.items()}
