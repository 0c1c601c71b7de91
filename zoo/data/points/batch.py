"""Batches of sets of points: named tensors with boolean masks, True = real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.data.batch import WritingBatch
from zoo.layers.packing import Packing


@dataclass(frozen=True)
class PointBatch(WritingBatch):
    """B sets of at most n points of W coordinates, each with a target of at most T tokens.

    `PointBatch.of` builds it with its packings. A network can attend to S = 1 + n places: that of the end token, then
    the points in input order. Without targets, as when predicting, all fields about targets are None.
    """

    kept: ClassVar[tuple[str, ...]] = ("points", "scale")
    points: Tensor
    """(B, n, W) coordinates, each set inside the unit square; 0 at padding."""
    point_mask: Tensor
    """(B, n) True at points; a prefix of each row."""
    point_packing: Packing
    """Packs (B, n)."""
    scale: Tensor
    """(B,) how long a unit of these coordinates is in those of the set's source: lengths are reported in the latter."""
    index: Tensor
    """(B,) number of each set in its split."""
    group: Tensor
    """(B,) the part of the test that a set belongs to, by its number in the spec's `groups`; 0 outside the test."""

    @classmethod
    def of(
        cls,
        points: Tensor,
        point_mask: Tensor,
        target: Tensor | None = None,
        target_mask: Tensor | None = None,
        *,
        begin: int = 1,
        scale: Tensor | None = None,
        index: Tensor | None = None,
        group: Tensor | None = None,
    ) -> PointBatch:
        """A batch from padded points (B, n, W), ids (B, T) and their masks; everything else follows from these."""
        return cls(
            points=points,
            point_mask=point_mask,
            point_packing=Packing.of(point_mask),
            scale=points.new_ones(len(points)) if scale is None else scale,
            index=torch.arange(len(points)) if index is None else index,
            group=torch.zeros(len(points), dtype=torch.long) if group is None else group,
            **cls.writing(target, target_mask, begin),
        )

    @property
    def memory_mask(self) -> Tensor:
        """(B, 1 + n) True at the places that exist: that of the end, and the points."""
        return F.pad(self.point_mask, (1, 0), value=True)

    @property
    def content_mask(self) -> Tensor:
        """(B, 1 + n) True at the points alone."""
        return F.pad(self.point_mask, (1, 0), value=False)

    @property
    def memory_length(self) -> Tensor:
        """(B,) what lengths of a target are measured by: the points."""
        return self.point_mask.sum(1)

    @property
    def alignment(self) -> Tensor | None:
        """(B, T, 1 + n) True where a target token points; None without targets."""
        if self.target is None or self.target_mask is None:
            return None
        places = torch.arange(self.memory_mask.shape[1], device=self.target.device)
        return (self.target[:, :, None] - 2 == places) & self.target_mask[:, :, None]

    def __len__(self) -> int:
        return len(self.points)
