"""Adversarial training: the discriminator's loss and the generator's, each with an optimiser of its own."""

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import torch.nn.functional as F
from torch import Tensor
from torchmetrics import MeanMetric, Metric

from tiny_pair.batch import RingBatch
from tiny_pair.network import Pair
from zoo.tasks.task import Examined, Prediction, Task, TaskArguments


@dataclass(frozen=True)
class Generated(Prediction):
    """A generated point."""

    seed: str
    x: float
    y: float


class Adversarial(Task):
    """Any network with the parts `generator` and `discriminator`."""

    name = "adversarial"
    headline = ("radius_error",)
    monitors: ClassVar[dict[str, str]] = {"radius_error": "min"}
    groups = ("discriminator",)
    view = "tiny_pair.view.GeneratedView"
    several_optimizers = True
    find_unused_parameters = True
    network: Pair

    def __init__(self, *, discriminator: dict[str, Any] | None = None, **rest: Unpack[TaskArguments]) -> None:
        """`discriminator` describes the optimiser of the discriminator, `optimizer` that of the generator."""
        super().__init__(**rest)
        self.save_hyperparameters()

    def metrics(self) -> dict[str, Metric]:
        return {"radius_error": MeanMetric()}

    def configure_optimizers(self) -> Any:
        parts = {"discriminator": self.network.discriminator, "optimizer": self.network.generator}
        return [
            self.scheduled(self.optimizer_for(part.named_parameters(), self.hparams[key]), self.hparams["scheduler"])
            for key, part in parts.items()
        ]

    def training_step(self, batch: RingBatch, batch_idx: int) -> None:
        discriminator, generator = self.optimizers()
        with discriminator.toggle_model():
            true, made = self.network(batch).logits.unbind(1)
            self.update(discriminator, self.mean(F.softplus(-true) + F.softplus(made)))
        with generator.toggle_model():
            made = self.network.scores(self.network.generator(batch.noise))
            self.update(generator, self.mean(F.softplus(-made)))

    def mean(self, losses: Tensor) -> Tensor:
        """The mean over the batch of all processes."""
        return self.global_mean(losses.sum(), len(losses))

    def evaluate(self, batch: RingBatch, stage: str) -> None:
        error = (self.network.generator(batch.noise).norm(dim=1) - 1).abs().mean()
        self.record(stage, "radius_error", error, len(batch))

    def predictions(self, batch: RingBatch, words: list[Any]) -> list[Generated]:
        points = self.network.generator(batch.noise).tolist()
        return [Generated(str(seed), x, y) for seed, (x, y) in zip(words, points, strict=True)]

    def examine(self, batch: RingBatch) -> list[Examined]:
        numbers = batch.index.tolist()
        return [Examined(one.seed, one, None) for one in self.predictions(batch, numbers)]  # type: ignore[arg-type]
