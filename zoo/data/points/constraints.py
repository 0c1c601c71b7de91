"""What may be pointed at next: `zoo.decoding.constraint` asks these.

Notation: B sets of n points, K hypotheses of each, t tokens read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from zoo.data.points.batch import PointBatch
from zoo.data.points.spec import PointSpec

END, FIRST = PointSpec.end, PointSpec.first
AT_ONCE = 2**20
"""Turns that are looked at together."""
ROUNDING = 4e-16
"""A difference of two products in float64 is certainly above 0 where it is larger than this share of their sum."""
Parts = Mapping[str, Tensor]


class Distinct:
    """No point is pointed at twice; the end may come at any time."""

    goals: ClassVar[tuple[str, ...]] = ("hull", "tour", "order")
    """That a constraint rules no right answer of out."""

    def memory(self, batch: PointBatch) -> dict[str, Tensor]:
        return {"point_mask": batch.point_mask}

    def begin(self, memory: Parts) -> dict[str, Tensor]:
        mask = memory["point_mask"][:, None]
        return {"left": mask, "over": mask.new_zeros(mask.shape[:2])}

    def read(self, tokens: Tensor, memory: Parts, written: Parts) -> dict[str, Tensor]:
        """`left` (B, K, n): not pointed at yet; `over` (B, K): the end was written."""
        numbers = FIRST + torch.arange(written["left"].shape[2], device=tokens.device)
        return {
            "left": written["left"] & (tokens[..., None] != numbers),
            "over": written["over"] | (tokens == END),
        }

    def allowed(self, memory: Parts, written: Parts) -> Tensor:
        """(B, K, 3 + n). Behind the end there is but the end, and so where nothing else may follow."""
        points, end = self.may_follow(memory, written)
        points = points & ~written["over"][..., None]
        end = end | ~points.any(2)
        never = torch.zeros_like(end)
        return torch.cat([torch.stack([never, never, end], 2), points], 2)

    def may_follow(self, memory: Parts, written: Parts) -> tuple[Tensor, Tensor]:
        """(B, K, n) the points, and (B, K) whether the end."""
        return written["left"], torch.ones_like(written["over"])


class Tour(Distinct):
    """Every point once, and then the end."""

    goals: ClassVar[tuple[str, ...]] = ("tour", "order")

    def may_follow(self, memory: Parts, written: Parts) -> tuple[Tensor, Tensor]:
        return written["left"], torch.zeros_like(written["over"])


class Hull(Distinct):
    """The vertices of a strictly convex polygon, counter-clockwise, from any of them on; the end may come after three.

    A point may follow when with it these are still vertices of such a polygon in their order: the last edge turns left
    to it, and so do the edge to it, back to the first point, and from there to the second. What is begun can be ended:
    the second point has some third to its left. Whether other points lie outside is the network's to see. A turn is
    left where float64 makes it certain; of points that are all in a line nothing follows the first but the end.
    """

    goals: ClassVar[tuple[str, ...]] = ("hull",)

    def memory(self, batch: PointBatch) -> dict[str, Tensor]:
        return {**super().memory(batch), "points": batch.points.double()}

    def begin(self, memory: Parts) -> dict[str, Tensor]:
        count = len(memory["points"])
        path = torch.empty(count, 1, 0, dtype=torch.long, device=memory["points"].device)
        return {**super().begin(memory), "path": path}

    def read(self, tokens: Tensor, memory: Parts, written: Parts) -> dict[str, Tensor]:
        """Also `path` (B, K, t): the numbers of the points, 0 for begin and for what stands behind the end."""
        path = torch.cat([written["path"], (tokens - FIRST).clamp(min=0)[..., None]], 2)
        return {**super().read(tokens, memory, written), "path": path}

    def may_follow(self, memory: Parts, written: Parts) -> tuple[Tensor, Tensor]:
        points, left, path = memory["points"], written["left"], written["path"][..., 1:]
        row = torch.arange(len(points), device=points.device)[:, None]
        count, early = path.shape[2], torch.zeros_like(written["over"])
        every = points[:, None]  # (B, 1, n, 2)

        def at(place: int) -> Tensor:
            """(B, K, 1, 2) the point that was pointed at there."""
            return points[row, path[..., place]][:, :, None]

        if count == 0:
            return left, early
        if count == 1:  # from the first to each, and then to each other
            some = max(1, AT_ONCE // max(left.numel(), 1))
            turns = [
                _left(at(0)[..., None, :], part[:, :, :, None], every[:, :, None]) for part in every.split(some, 2)
            ]
            return left & torch.cat([(turn & left[:, :, None]).any(3) for turn in turns], 2), early
        if count == 2:
            return left & _left(at(0), at(1), every), early
        convex = _left(at(-2), at(-1), every) & _left(at(-1), every, at(0)) & _left(every, at(0), at(1))
        return left & convex, ~early


def _left(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Whether the path a, b, c turns left, points (..., 2) each: (...)."""
    one = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1])
    other = (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    return one - other > ROUNDING * (one.abs() + other.abs())


CONSTRAINTS: Mapping[str, type[Distinct]] = {"distinct": Distinct, "hull": Hull, "tour": Tour}
"""By their names in a configuration."""
