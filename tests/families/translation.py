"""Pairs of sequences, for `translation`."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import LONG, Writing, precise
from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.options import PairTextOptions
from zoo.data.pairs.spec import PairSpec
from zoo.models.output import Output
from zoo.tasks import Translation


class Pairs(Writing):
    """Pairs of sequences, for `translation`."""

    spec = PairSpec(source_size=25, target_size=30, longest_source=12, longest_target=12)
    encoder = SimpleNamespace(text_options=PairTextOptions(), languages=("en", "en"))

    def batch(self, seed: int, *, empty: bool = True) -> PairBatch:
        """The smallest source and target hold their end alone; one source holds not even that where `empty`."""
        sources, targets = [5, 2, 7, 1, 4, *([0] if empty else [])], [6, 1, 3, 2, 7, *([2] if empty else [])]
        return self._of_lengths(sources, targets, seed)

    def long_batch(self) -> PairBatch:
        return self._of_lengths([LONG, 3], [4, 2], 1)

    def _of_lengths(self, sources: list[int], targets: list[int], seed: int) -> PairBatch:
        generator = torch.Generator().manual_seed(seed)
        source, source_mask = self._side(sources, self.spec.source_size, generator)
        target, target_mask = self._side(targets, self.spec.target_size, generator)
        return PairBatch.of(source, source_mask, target, target_mask, begin=self.spec.begin)

    def _side(self, lengths: list[int], size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        length = torch.tensor(lengths)[:, None]
        mask = torch.arange(max(lengths)) < length
        ids = torch.randint(4, size, mask.shape, generator=generator)
        ids = torch.where(torch.arange(max(lengths)) == length - 1, self.spec.end, ids)
        return ids.masked_fill(~mask, self.spec.padding), mask

    def part(self, batch: PairBatch, rows: Sequence[int]) -> PairBatch:
        ids, mask, target, target_mask = (side[list(rows)] for side in self._sides(batch))
        source, width = max(int(mask.sum(1).max()), 1), max(int(target_mask.sum(1).max()), 1)
        sides = ids[:, :source], mask[:, :source], target[:, :width], target_mask[:, :width]
        return PairBatch.of(*sides, begin=self.spec.begin)

    def padded(self, batch: PairBatch) -> PairBatch:
        source, source_mask, target, target_mask = self._sides(batch)
        sides = F.pad(source, (0, 2)), F.pad(source_mask, (0, 2)), F.pad(target, (0, 3)), F.pad(target_mask, (0, 3))
        return PairBatch.of(*sides, begin=self.spec.begin)

    def scribbled(self, batch: PairBatch) -> PairBatch:
        source, source_mask, target, target_mask = self._sides(batch)
        scribble = torch.where(source_mask, source, 7), source_mask, torch.where(target_mask, target, 7), target_mask
        return PairBatch.of(*scribble, begin=self.spec.begin)

    def without_targets(self, batch: PairBatch) -> PairBatch:
        return PairBatch.of(batch.source, batch.source_mask, begin=self.spec.begin)

    def readable(self, batch: PairBatch) -> Tensor:
        return (torch.arange(self.spec.target_size) > self.spec.end).expand(len(batch), -1)

    def with_target(self, batch: PairBatch, ids: Sequence[int]) -> PairBatch:
        target = torch.tensor([ids])
        return PairBatch.of(
            batch.source, batch.source_mask, target, torch.ones_like(target, dtype=torch.bool), begin=self.spec.begin
        )

    def rows(self, batch: PairBatch, kind: str, mask: Tensor) -> Tensor:
        assert batch.target_mask is not None
        asks = batch.source_mask if kind == "encoder" else batch.target_mask
        steps = torch.arange(mask.shape[1])
        seen = asks[:, :, None] & mask[:, None]
        return seen & (steps[:, None] >= steps) if kind == "decoder" else seen

    def scores(self, output: Output, batch: PairBatch) -> Tensor:
        assert batch.target_packing is not None
        return batch.target_packing.unpack(output.logits)

    def loss(self, output: Output, batch: PairBatch) -> Tensor:
        assert batch.target is not None
        assert batch.target_packing is not None
        target = batch.target_packing.pack(batch.target)
        return F.cross_entropy(precise(output.logits), target) + sum(output.losses.values())

    def task(self, model: dict[str, Any], *, attends: bool) -> Translation:
        penalty = {"coverage": {"_target_": "zoo.objectives.CoverageLoss", "weight": 0.5, "tau": 1.0}}
        return Translation(
            model=model,
            objective={"_target_": "zoo.objectives.CrossEntropy", "label_smoothing": 0.1},
            decoding={"_target_": "zoo.decoding.Greedy"},
            regularizer=penalty if attends else None,
            monitor="val/loss",
            mode="min",
        )

    @staticmethod
    def _sides(batch: PairBatch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        assert batch.target is not None
        assert batch.target_mask is not None
        return batch.source, batch.source_mask, batch.target, batch.target_mask


FAMILY = Pairs()
