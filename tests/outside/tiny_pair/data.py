"""Points of a ring, made without end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from tiny_pair.batch import RingBatch
from tiny_pair.spec import RingSpec
from zoo.data.encoder import Encoder
from zoo.data.order import Nouns
from zoo.data.streams import Made, Make, StreamData

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
        return one

    def state(self) -> dict[str, Any]:
        return {"noise": NOISE}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> RingEncoder:
        return cls()


class Rings(StreamData):
    """Points of a ring."""

    name = "rings"
    tasks: ClassVar[tuple[str, ...]] = ("adversarial", "density")
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
