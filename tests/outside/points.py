"""Random points, for the contract's clauses."""

import torch
import torch.nn.functional as F
from tiny_pair.batch import RingBatch
from tiny_pair.spec import RingSpec
from torch import Tensor

from tests.families import Family, precise
from zoo.models.output import Output


class RandomPoints(Family):
    """Points and noise, for `adversarial`. Points have no padding."""

    spec = RingSpec(noise=3)
    singles = ("points", "noise", "index")

    def batch(self, seed: int, *, empty: bool = True) -> RingBatch:
        generator = torch.Generator().manual_seed(seed)
        return RingBatch(
            torch.randn(5, 2, generator=generator), torch.randn(5, 3, generator=generator), torch.arange(5)
        )

    def long_batch(self) -> RingBatch:
        return self.batch(2)

    def made(self, tensors: dict[str, Tensor], like: RingBatch) -> RingBatch:
        return RingBatch(**tensors)

    def without_targets(self, batch: RingBatch) -> RingBatch:
        return batch

    def loss(self, output: Output, batch: RingBatch) -> Tensor:
        true, made = precise(output.logits).unbind(1)
        return (F.softplus(-true) + F.softplus(made)).mean()


FAMILY = RandomPoints()
