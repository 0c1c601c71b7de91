"""A generator makes points, and a discriminator tells them from true ones.

The authors of attention-zoo. 2026. https://example.org/tiny-pair

"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch import Tensor, nn
from torchmetrics import MeanMetric, Metric

from zoo.arguments import Count
from zoo.data.batch import Batch, Encoder, Spec
from zoo.data.order import Nouns
from zoo.data.streams import Made, Make, StreamData
from zoo.errors import UnusableInput
from zoo.models.output import Output
from zoo.tasks.task import Examined, Prediction, Task, TaskArguments
from zoo.visualize.view import View


@dataclass(frozen=True)
class RingSpec(Spec):
    """Points in the plane."""

    noise: int
    """Numbers that a generator gets for each point."""


@dataclass(frozen=True)
class RingBatch(Batch):
    """B points."""

    unit: ClassVar[str] = "points"

    points: Tensor
    """(B, 2)."""
    noise: Tensor
    """(B, Z) of a standard normal distribution."""
    index: Tensor
    """(B,) number of each point in its split."""

    def __len__(self) -> int:
        return len(self.points)


NOISE = 3


class RingPoint(NamedTuple):
    """A true point and the noise for a generated one."""

    point: tuple[float, float]
    noise: tuple[float, ...]


def ring_point(seed: int, number: int) -> RingPoint:
    """Point `number` of a stream, at a distance of about 1 from the origin."""
    draw = np.random.default_rng((seed, number))
    angle, radius = draw.uniform(0, 2 * math.pi), draw.normal(1, 0.1)
    return RingPoint((radius * math.cos(angle), radius * math.sin(angle)), tuple(draw.normal(size=NOISE)))


class RingEncoder(Encoder):
    """Numbers of points to batches: an input is the seed of the noise to generate from."""

    def __call__(self, inputs: Sequence[str]) -> RingBatch:
        return collate(Made([ring_point(int(one), 0) for one in inputs], list(range(len(inputs)))))

    def display(self, one: str) -> str:
        if not one.isdecimal():
            raise UnusableInput(f"{one!r}: expected a whole number")
        return one

    def state(self) -> dict[str, Any]:
        return {"noise": NOISE}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> RingEncoder:
        return cls()


class Rings(StreamData):
    """Points of a ring."""

    name = "rings"
    tasks: ClassVar[tuple[str, ...]] = ("sparring", "outlines")
    nouns: ClassVar[Nouns] = Nouns("points", "numbers")

    def generator(self) -> Make:
        return ring_point

    def setup(self, stage: str | None = None) -> None:
        self.spec, self.encoder = RingSpec(NOISE), RingEncoder()

    @property
    def _collate(self) -> Callable[[Any], Any]:
        return collate


def collate(made: Made) -> RingBatch:
    """Points as a batch."""
    points, noise = (torch.tensor(part, dtype=torch.float32) for part in zip(*made.examples, strict=True))
    return RingBatch(points, noise, torch.tensor(made.numbers))


class Pair(nn.Module):
    """Two small networks in one module."""

    tasks = ("sparring",)
    attends: ClassVar[dict[str, str]] = {}

    def __init__(self, spec: RingSpec, *, hidden_dim: Count = 16) -> None:
        super().__init__()
        self.generator = _layers(spec.noise, hidden_dim, 2)
        self.discriminator = _layers(2, hidden_dim, 1)

    def scores(self, points: Tensor) -> Tensor:
        """(B,) log-odds that points (B, 2) are true ones."""
        return self.discriminator(points)[:, 0]

    def forward(self, batch: RingBatch) -> Output:
        """Scores (B, 2) of the true and of the generated points."""
        dtype = self.generator[0].weight.dtype
        made = self.generator(batch.noise.to(dtype))
        return Output(torch.stack([self.scores(batch.points.to(dtype)), self.scores(made)], 1))


def _layers(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, outputs))


@dataclass(frozen=True)
class Generated(Prediction):
    """A generated point."""

    seed: str
    x: float
    y: float


class Adversarial(Task):
    """Any network with the parts `generator` and `discriminator`."""

    name = "sparring"
    headline = ("radius_error",)
    monitors: ClassVar[dict[str, str]] = {"radius_error": "min"}
    groups = ("discriminator",)
    view = "tiny_pair.GeneratedView"
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


class GeneratedView(View):
    """A point for each seed."""

    noun: ClassVar[str] = "seed"
    typed: ClassVar[str] = "7"
    columns: ClassVar[tuple[str, ...]] = ("seed", "x", "y")

    def row(self, prediction: Generated) -> list[Any]:
        return [prediction.seed, prediction.x, prediction.y]

    def validation_pictures(self, task: Task) -> Mapping[str, Callable[[], Figure]]:
        """200 points from fixed noise, after each validation."""
        generator: Any = task.network.generator  # type: ignore[union-attr]
        noise = torch.randn(200, generator[0].in_features, generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            points = generator(noise.to(task.device)).cpu()

        def drawn() -> Figure:
            figure = Figure(figsize=(3, 3))
            figure.add_subplot().scatter(*points.T)
            return figure

        return {"ring": drawn}
