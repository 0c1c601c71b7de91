"""Constraints on the next point of an output, for `zoo.decoding.constraint`.

Notation: B sets of n points, K hypotheses of each, t tokens read.
"""

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from zoo.data.points.batch import PointBatch, PointSpec

END, FIRST = PointSpec.end, PointSpec.first
AT_ONCE = 2**20  # Most turns that are computed together
ROUNDING = 4e-16
"""A difference of two products in float64 is certainly positive if it exceeds this share of their sum."""
Parts = Mapping[str, Tensor]


class Distinct:
    """Allows each point once, and the end at any time."""

    goals: ClassVar[tuple[str, ...]] = ("hull", "tour", "order")
    """Goals whose right answers the constraint never excludes."""

    def memory(self, batch: PointBatch) -> dict[str, Tensor]:
        return {"point_mask": batch.point_mask}

    def begin(self, memory: Parts) -> dict[str, Tensor]:
        mask = memory["point_mask"][:, None]
        return {"left": mask, "over": mask.new_zeros(mask.shape[:2])}

    def read(self, tokens: Tensor, memory: Parts, written: Parts) -> dict[str, Tensor]:
        """Masks after the tokens read: `left` (B, K, n), points not yet used; `over` (B, K), the end was written."""
        numbers = FIRST + torch.arange(written["left"].shape[2], device=tokens.device)
        return {"left": written["left"] & (tokens[..., None] != numbers), "over": written["over"] | (tokens == END)}

    def allowed(self, memory: Parts, written: Parts) -> Tensor:
        """Mask (B, K, 3 + n) of allowed tokens. Only the end follows the end, or a state that allows nothing else."""
        points, end = self.may_follow(memory, written)
        points = points & ~written["over"][..., None]
        end = end | ~points.any(2)
        never = torch.zeros_like(end)
        return torch.cat([torch.stack([never, never, end], 2), points], 2)

    def may_follow(self, memory: Parts, written: Parts) -> tuple[Tensor, Tensor]:
        """Masks of the points (B, K, n) and of the end (B, K) that may follow."""
        return written["left"], torch.ones_like(written["over"])


class Tour(Distinct):
    """Allows every point once, and the end after all of them."""

    goals: ClassVar[tuple[str, ...]] = ("tour", "order")

    def may_follow(self, memory: Parts, written: Parts) -> tuple[Tensor, Tensor]:
        return written["left"], torch.zeros_like(written["over"])


class Hull(Distinct):
    """Allows the vertices of a strictly convex polygon, counter-clockwise from any vertex, and the end after three.

    A point may follow if the points are then still such vertices in order: the path turns left at the last point, at
    the new point towards the first, and at the first towards the second. Every allowed path can be completed: the
    second point has a third point to its left. The constraint does not check whether other points lie outside. A turn
    counts as left if float64 makes it certain; if all points are on one line, only the end follows the first.
    """

    goals: ClassVar[tuple[str, ...]] = ("hull",)

    def memory(self, batch: PointBatch) -> dict[str, Tensor]:
        return {**super().memory(batch), "points": batch.points.double()}

    def begin(self, memory: Parts) -> dict[str, Tensor]:
        count = len(memory["points"])
        path = torch.empty(count, 1, 0, dtype=torch.long, device=memory["points"].device)
        return {**super().begin(memory), "path": path}

    def read(self, tokens: Tensor, memory: Parts, written: Parts) -> dict[str, Tensor]:
        """Adds `path` (B, K, t): the numbers of the points, 0 for begin and for tokens after the end."""
        path = torch.cat([written["path"], (tokens - FIRST).clamp(min=0)[..., None]], 2)
        return {**super().read(tokens, memory, written), "path": path}

    def may_follow(self, memory: Parts, written: Parts) -> tuple[Tensor, Tensor]:
        points, left, path = memory["points"], written["left"], written["path"][..., 1:]
        row = torch.arange(len(points), device=points.device)[:, None]
        count, early = path.shape[2], torch.zeros_like(written["over"])
        every = points[:, None]  # (B, 1, n, 2)

        def at(place: int) -> Tensor:
            """(B, K, 1, 2) the point at a position of the path."""
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
    """Whether the path a, b, c turns left (...), for points (..., 2)."""
    one = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1])
    other = (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    return one - other > ROUNDING * (one.abs() + other.abs())


CONSTRAINTS: Mapping[str, type[Distinct]] = {"distinct": Distinct, "hull": Hull, "tour": Tour}
"""Constraints by their names in a configuration."""
