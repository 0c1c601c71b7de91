"""Sets of points and pointers into them, for `pointing`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import IMPOSSIBLE, LONG, Writing, precise
from zoo.data.points.batch import PointBatch
from zoo.data.points.spec import PointSpec
from zoo.models.output import Output


class Points(Writing):
    """Sets of points and pointers into them, for `pointing`."""

    spec = PointSpec(width=2, longest=LONG, longest_target=12, goal="hull", groups=("all",))
    encoder = None

    def batch(self, seed: int, *, empty: bool = True) -> PointBatch:
        """One set has a single point, one none where `empty`; the smallest target is the end alone."""
        points, targets = [5, 1, 7, 3, 4, *([0] if empty else [])], [6, 2, 4, 1, 5, *([1] if empty else [])]
        return self._of_lengths(points, targets, seed)

    def long_batch(self) -> PointBatch:
        return self._of_lengths([LONG, 3], [4, 2], 1)

    def _of_lengths(self, points: list[int], targets: list[int], seed: int) -> PointBatch:
        """Random points, and pointers at them, the end last."""
        draw = torch.Generator().manual_seed(seed)
        count, length = torch.tensor(points)[:, None], torch.tensor(targets)[:, None]
        point_mask = torch.arange(max(points)) < count
        places = torch.rand(len(points), max(points), self.spec.width, generator=draw)
        step = torch.arange(max(targets))
        mask = step < length
        pointed = (torch.rand(mask.shape, generator=draw) * count).long() + self.spec.first
        ids = torch.where(step == length - 1, self.spec.end, pointed).masked_fill(~mask, self.spec.padding)
        return self._of(places * point_mask[..., None], point_mask, ids, mask)

    def part(self, batch: PointBatch, rows: Sequence[int]) -> PointBatch:
        points, mask, target, target_mask = (side[list(rows)] for side in self._sides(batch))
        count, width = max(int(mask.sum(1).max()), 1), max(int(target_mask.sum(1).max()), 1)
        return self._of(points[:, :count], mask[:, :count], target[:, :width], target_mask[:, :width])

    def padded(self, batch: PointBatch) -> PointBatch:
        points, mask, target, target_mask = self._sides(batch)
        return self._of(
            F.pad(points, (0, 0, 0, 2)), F.pad(mask, (0, 2)), F.pad(target, (0, 3)), F.pad(target_mask, (0, 3))
        )

    def scribbled(self, batch: PointBatch) -> PointBatch:
        points, mask, target, target_mask = self._sides(batch)
        points = torch.where(mask[..., None], points, 0.7)
        return self._of(points, mask, torch.where(target_mask, target, self.spec.first), target_mask)

    def without_targets(self, batch: PointBatch) -> PointBatch:
        return replace(batch, target=None, target_input=None, target_mask=None, target_packing=None)

    def readable(self, batch: PointBatch) -> Tensor:
        return F.pad(batch.point_mask, (self.spec.first, 0))

    def with_target(self, batch: PointBatch, ids: Sequence[int]) -> PointBatch:
        target = torch.tensor([ids])
        return self._of(batch.points, batch.point_mask, target, torch.ones_like(target, dtype=torch.bool))

    def rows(self, batch: PointBatch, kind: str, mask: Tensor) -> Tensor:
        assert batch.target_mask is not None
        return batch.target_mask[:, :, None] & mask[:, None]

    def scores(self, output: Output, batch: PointBatch) -> Tensor:
        """Log-probabilities of the tokens of the longest set that is padded: a batch scores those of its own longest
        set alone."""
        assert batch.target_packing is not None
        log_probs = precise(output.logits).log_softmax(-1).clamp(min=IMPOSSIBLE)
        width = self.spec.first + LONG + 2
        return batch.target_packing.unpack(F.pad(log_probs, (0, width - log_probs.shape[1]), value=IMPOSSIBLE))

    def loss(self, output: Output, batch: PointBatch) -> Tensor:
        return F.cross_entropy(precise(output.logits), batch.true_tokens) + sum(output.losses.values())

    def task(self, model: dict[str, Any], *, attends: bool) -> Any:
        from zoo.tasks.pointing import Pointing

        return Pointing(
            model=model,
            objective={"_target_": "zoo.objectives.CrossEntropy"},
            decoding={"_target_": "zoo.decoding.Greedy"},
            monitor="val/loss",
            mode="min",
        )

    def _of(self, points: Tensor, mask: Tensor, target: Tensor, target_mask: Tensor) -> PointBatch:
        return PointBatch.of(points, mask, target, target_mask, begin=self.spec.begin)

    @staticmethod
    def _sides(batch: PointBatch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        assert batch.target is not None
        assert batch.target_mask is not None
        return batch.points, batch.point_mask, batch.target, batch.target_mask


FAMILY = Points()
