"""A generator of pictures and a critic that train each other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar, Required, Unpack, cast

import torch
from torch import Tensor
from torch.nn import functional as F
from torchmetrics import Metric

from zoo.arguments import Count, Natural, Positive
from zoo.data.pictures.batch import PictureBatch, scaled, to_levels
from zoo.errors import DataError
from zoo.metrics.pictures import FrechetDistance, KernelDistance, Manifold
from zoo.metrics.ratios import Share
from zoo.predicting.adversarial import AdversarialPredictions
from zoo.tasks.judge import Judge
from zoo.tasks.task import Task, TaskArguments

STAGES = {"val": 1, "test": 2}
"""Numbers in the seeds of the noise of the two evaluations."""


class AdversarialArguments(TaskArguments, total=False):
    """The arguments of the task."""

    critic: Required[dict[str, Any]]


class Adversarial(AdversarialPredictions, Task):
    """Any network with a `generator` and a `discriminator`, trained by the hinge loss at two rates.

    Each batch is a step of the critic, and every `critic_steps`-th one also of the generator. As many pictures are
    generated for an evaluation as it has real ones. They are compared in the features of a classifier that learns in
    the same run: `fd` is a Fréchet distance and `kid` the kernel distance, in the units of these features, and not
    those of Inception. `class_accuracy` is the share of pictures that the classifier takes for the class that they
    were to show.
    """

    headline = ("fd", "kid", "class_accuracy", "precision", "recall")
    monitors: ClassVar[Mapping[str, str]] = {"fd": "min", "kid": "min", "class_accuracy": "max"}
    on_bar = headline
    groups = ("critic",)
    several_optimizers = True
    find_unused_parameters = True

    def __init__(
        self,
        *,
        critic: dict[str, Any],
        critic_steps: Count = 1,
        classifier_steps: Count = 600,
        precision_recall: bool = False,
        samples: Natural = 40,
        every_n_minutes: Positive = 2.0,
        **rest: Unpack[TaskArguments],
    ) -> None:
        """
        Args:
            critic: the optimiser of the critic, as `optimizer` is that of the generator.
            critic_steps: steps of the critic for each step of the generator.
            classifier_steps: steps of the classifier that judges.
            precision_recall: also measure both in the features, by distances between all pictures.
            samples: the pictures in `samples.png`.
            every_n_minutes: time between two drawings after a validation.
            rest: the arguments of every task.
        """
        super().__init__(**rest)
        self.save_hyperparameters()
        self.critic_steps, self.samples, self.every_n_minutes = critic_steps, samples, every_n_minutes
        self._drawn_at = float("-inf")
        self.judge: Judge | None = None

    def build(self, spec: Any, encoder: Any) -> None:
        super().build(spec, encoder)
        self.judge = Judge(spec)

    def metrics(self) -> dict[str, Metric]:
        width = Judge(self.spec).hidden.out_features
        found: dict[str, Metric] = {"fd": FrechetDistance(width), "kid": KernelDistance()}
        if self.network.condition == "label" and self.spec.classes:
            found["class_accuracy"] = Share()
        if self.hparams["precision_recall"]:
            found |= {"precision": Manifold(recall=False), "recall": Manifold(recall=True)}
        return found

    def configure_optimizers(self) -> Any:
        parts = {"critic": self.network.discriminator, "optimizer": self.network.generator}
        return [
            self.scheduled(self.optimizer_for(part.named_parameters(), self.hparams[key]), self.hparams["scheduler"])
            for key, part in parts.items()
        ]

    # training

    def on_fit_start(self) -> None:
        super().on_fit_start()
        self._let_judge_learn()

    def on_test_start(self) -> None:
        super().on_test_start()
        self._let_judge_learn()

    def _let_judge_learn(self) -> None:
        assert self.judge is not None
        data: Any = self.trainer.datamodule  # type: ignore[attr-defined]
        for split in STAGES:
            if data.sizes.get(split, 2) < 2:
                raise DataError(f"the {split} split has 1 picture; fd and kid compare 2 or more: add pictures")
        self.judge.learn(data, self.hparams["classifier_steps"])

    def training_step(self, batch: PictureBatch, batch_idx: int) -> dict[str, Tensor]:
        critic, generator = cast(list[Any], self.optimizers())
        count = len(batch)
        with critic.toggle_model():  # the generator gets no gradient
            with torch.no_grad():
                made, _ = self.network.generate(self.noise(batch.index, 0, self.global_step), batch.label)
            pictures = torch.cat([scaled(batch.image, self.spec.levels, made), made])
            label = None if batch.label is None else batch.label.repeat(2)
            real, fake = self.network.criticise(pictures, label)[0].chunk(2)
            losses = F.relu(1 - real) + F.relu(1 + fake)
            self.update(critic, self.global_mean(losses.sum(), count))
        found = {"discriminator_loss": losses.detach().mean()}
        if batch_idx % self.critic_steps == 0:
            with generator.toggle_model():
                made, _ = self.network.generate(self.noise(batch.index, 3, self.global_step), batch.label)
                scores = self.network.criticise(made, batch.label)[0]
                self.update(generator, self.global_mean(-scores.sum(), count))
            found["generator_loss"] = -scores.detach().mean()
        for name, value in found.items():
            logged: dict[str, Any] = {"prog_bar": True, "on_step": False, "on_epoch": True, "sync_dist": True}
            self.log(f"train/{name}", value, batch_size=count, **logged)
        return {"loss": sum(found.values(), torch.zeros_like(losses[0].detach()))}

    def on_train_epoch_end(self) -> None:
        super().on_train_epoch_end()
        for name, parameter in self.network.named_parameters():
            if name.rpartition(".")[2] == "gamma":  # 0 at first: how much the attention takes part
                self.log(f"train/gamma_{name.partition('.')[0]}", parameter.detach().float().mean())

    # evaluation

    def evaluate(self, batch: PictureBatch, stage: str) -> None:
        assert self.judge is not None
        made, _ = self.network.generate(self.noise(batch.index, STAGES[stage]), batch.label)
        image = to_levels(made, self.spec.levels)
        distances = [name for name in ("fd", "kid", "precision", "recall") if name in self.metrics_of(stage)]
        for pictures, real in ((batch.image, True), (image, False)):
            features = self.judge.features(pictures)
            for name in distances:
                self.record(stage, name, features, real)
        if "class_accuracy" in self.metrics_of(stage):
            assert batch.label is not None
            self.record(stage, "class_accuracy", self.judge(image).argmax(1) == batch.label)

    def due(self) -> bool:
        """Whether it is time to draw samples again."""
        if time.monotonic() - self._drawn_at < 60 * self.every_n_minutes:
            return False
        self._drawn_at = time.monotonic()
        return True

    def facts(self) -> dict[str, Any]:
        """The classifier whose features were used."""
        return {"classifier": "" if self.judge is None else self.judge.name}

    def signatures(self) -> dict[str, str]:
        assert self.judge is not None
        return {f"test/{name}": f"features of {self.judge.name}" for name in ("fd", "kid")}
