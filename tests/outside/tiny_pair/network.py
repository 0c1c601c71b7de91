"""A generator makes points, and a discriminator tells them from true ones.

The authors of attention-zoo. 2026. https://example.org/tiny-pair

Equations: none of a paper; the losses are those of Goodfellow et al. 2014, section 3.

What differs from the paper: there is none.

Notation: B points, Z noise, H hidden.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from tiny_pair.batch import RingBatch
from tiny_pair.spec import RingSpec
from zoo.arguments import Count
from zoo.models.output import Output


class Pair(nn.Module):
    """Two small networks in one module."""

    tasks = ("adversarial",)
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
