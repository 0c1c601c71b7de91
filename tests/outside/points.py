"""Random points, for the contract's clauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from tiny_pair.batch import RingBatch
from tiny_pair.spec import RingSpec
from torch import Tensor

from tests.families import precise
from zoo.models.output import Output


class RandomPoints:
    """Points and noise, for `adversarial`. Points have no padding."""

    spec = RingSpec(noise=3)
    generates = False
    encoder = None

    def batch(self, seed: int, *, empty: bool = True) -> RingBatch:
        generator = torch.Generator().manual_seed(seed)
        return RingBatch(
            torch.randn(5, 2, generator=generator), torch.randn(5, 3, generator=generator), torch.arange(5)
        )

    def long_batch(self) -> RingBatch:
        return self.batch(2)

    def part(self, batch: RingBatch, rows: Sequence[int]) -> RingBatch:
        return RingBatch(*(part[list(rows)] for part in (batch.points, batch.noise, batch.index)))

    def padded(self, batch: RingBatch) -> RingBatch:
        return batch

    scribbled = without_targets = padded

    def rows(self, batch: RingBatch, kind: str, mask: Tensor) -> Tensor:
        raise AssertionError("nothing attends")

    def scores(self, output: Output, batch: RingBatch) -> Tensor:
        return output.logits

    def loss(self, output: Output, batch: RingBatch) -> Tensor:
        true, made = precise(output.logits).unbind(1)
        return (F.softplus(-true) + F.softplus(made)).mean()


FAMILY: Any = RandomPoints()
