"""Sequences of bits to read and bits to write, for `algorithmic`."""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import LONG, Family, mask_of, precise
from zoo.data.bits.batch import BitBatch, BitSpec
from zoo.models.output import Output


class Bits(Family):
    """Sequences of random bits with other random bits as targets of some steps."""

    task_class = "zoo.tasks.algorithmic.Algorithmic"
    spec = BitSpec(in_width=5, out_width=3, groups=("all",))
    grids: ClassVar[dict[str, str]] = {"inputs": "step_mask", "scored": "step_mask", "targets": "step_mask"}
    singles = ("index", "group")

    sizes, nothing, long = (6, 3, 9, 1, 4), (0,), (2, LONG)
    targets = ("targets",)

    def of_sizes(self, lengths: list[int], seed: int) -> BitBatch:
        generator = torch.Generator().manual_seed(seed)
        mask = mask_of(lengths)

        def draw(width: int, real: Tensor) -> Tensor:
            bits = torch.randint(0, 2, (*mask.shape, width), generator=generator)
            return bits.float().masked_fill(~real[..., None], 0.0)

        last = torch.arange(mask.shape[1]) == mask.sum(1, keepdim=True) - 1
        scored = mask & (last | (torch.rand(mask.shape, generator=generator) < 0.5))
        return BitBatch(draw(self.spec.in_width, mask), mask, scored, draw(self.spec.out_width, scored))

    def rows(self, batch: BitBatch, kind: str, mask: Tensor) -> Tensor:
        return mask[..., None]  # each step looks at the rows of the network's own memory

    def loss(self, output: Output, batch: BitBatch) -> Tensor:
        assert batch.targets is not None
        scores, targets = (precise(part)[batch.scored] for part in (output.logits, batch.targets))
        return F.binary_cross_entropy_with_logits(scores, targets.to(scores.dtype)) + sum(output.losses.values())


FAMILY = Bits()
