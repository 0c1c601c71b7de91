"""Sequences of bits to read and bits to write, for `algorithmic`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import LONG, precise
from zoo.data.bits.batch import BitBatch
from zoo.data.bits.spec import BitSpec
from zoo.models.output import Output
from zoo.tasks import Task


class Bits:
    """Sequences of random bits with other random bits as targets of some steps."""

    spec = BitSpec(in_width=5, out_width=3, groups=("all",))
    generates = False
    encoder = None

    def batch(self, seed: int, *, empty: bool = True) -> BitBatch:
        return self._of_lengths([6, 3, 9, 1, 4, *([0] if empty else [])], seed)

    def long_batch(self) -> BitBatch:
        return self._of_lengths([2, LONG], 1)

    def _of_lengths(self, lengths: list[int], seed: int) -> BitBatch:
        generator = torch.Generator().manual_seed(seed)
        mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]

        def draw(width: int, real: Tensor) -> Tensor:
            bits = torch.randint(0, 2, (*mask.shape, width), generator=generator)
            return bits.float().masked_fill(~real[..., None], 0.0)

        last = torch.arange(mask.shape[1]) == mask.sum(1, keepdim=True) - 1
        scored = mask & (last | (torch.rand(mask.shape, generator=generator) < 0.5))
        return BitBatch.of(draw(self.spec.in_width, mask), mask, scored, draw(self.spec.out_width, scored))

    def part(self, batch: BitBatch, rows: Sequence[int]) -> BitBatch:
        chosen = list(rows)
        steps = max(int(batch.step_mask[chosen].sum(1).max()), 1)
        return BitBatch.of(
            batch.inputs[chosen][:, :steps],
            batch.step_mask[chosen][:, :steps],
            batch.scored[chosen][:, :steps],
            None if batch.targets is None else batch.targets[chosen][:, :steps],
            index=batch.index[chosen],
            group=batch.group[chosen],
        )

    def padded(self, batch: BitBatch) -> BitBatch:
        assert batch.targets is not None
        return replace(
            batch,
            inputs=F.pad(batch.inputs, (0, 0, 0, 3)),
            step_mask=F.pad(batch.step_mask, (0, 3)),
            scored=F.pad(batch.scored, (0, 3)),
            targets=F.pad(batch.targets, (0, 0, 0, 3)),
        )

    def scribbled(self, batch: BitBatch) -> BitBatch:
        return replace(batch, inputs=batch.inputs.masked_fill(~batch.step_mask[..., None], 7.0))

    def without_targets(self, batch: BitBatch) -> BitBatch:
        return replace(batch, targets=None)

    def rows(self, batch: BitBatch, kind: str, mask: Tensor) -> Tensor:
        return mask[..., None]  # each step looks at the rows of the network's own memory

    def scores(self, output: Output, batch: BitBatch) -> Tensor:
        return output.logits

    def loss(self, output: Output, batch: BitBatch) -> Tensor:
        assert batch.targets is not None
        scores, targets = (precise(part)[batch.scored] for part in (output.logits, batch.targets))
        return F.binary_cross_entropy_with_logits(scores, targets.to(scores.dtype)) + sum(output.losses.values())

    def task(self, model: dict[str, Any], *, attends: bool) -> Task:
        from zoo.tasks.algorithmic import Algorithmic

        return Algorithmic(model=model, monitor="val/loss", mode="min")


FAMILY = Bits()
