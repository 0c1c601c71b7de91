"""Length of a tour: the reward of a network that learns tours without having seen one (Bello et al. 2016)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from zoo.errors import ConfigError


class TourLength:
    """Minus the length of the closed tour through all points of a set, in the batch's coordinates, where every set lies
    in the unit square.

    Without task.constraint=tour a network can write sequences that do not visit every point once. Their reward is minus
    one diagonal of the square per point: no tour is as long.
    """

    tasks = ("pointing",)
    """Tasks in which a tour can be written."""
    first = 3
    """The token of the first point, which `check` reads from the data's spec."""

    def check(self, spec: Any) -> None:
        """Raises ConfigError for data without tours."""
        goal = getattr(spec, "goal", None)
        if goal != "tour":
            found = f"those of {type(spec).__name__}" if goal is None else f"goal={goal}"
            raise ConfigError(
                f"the reward is the length of a tour, the data are {found}: take data=tsp, or data=points "
                "data.goal=tour, or another objective"
            )
        self.first = spec.first

    def __call__(self, hypotheses: list[list[int]], references: list[list[int]], batch: Any) -> list[float]:
        """`batch` has `points` (B, n, W) and `point_mask` (B, n). Each set has equally many hypotheses."""
        points, counts = batch.points.cpu().double(), batch.point_mask.sum(1).tolist()
        share = len(hypotheses) // max(len(counts), 1)
        rewards = [-count * points.shape[2] ** 0.5 for count in counts for _ in range(share)]
        by_length: dict[int, list[int]] = {}
        for row, tokens in enumerate(hypotheses):
            count = counts[row // share]
            if len(tokens) == count and sorted(tokens) == list(range(self.first, self.first + count)):
                by_length.setdefault(count, []).append(row)
        for rows in by_length.values():
            tours = torch.tensor([hypotheses[row] for row in rows]) - self.first  # (R, n)
            sets = torch.tensor([row // share for row in rows])
            for row, length in zip(rows, lengths(points[sets[:, None], tours]).tolist(), strict=True):
                rewards[row] = -length
        return rewards


def lengths(tours: Tensor) -> Tensor:
    """(R, n, W) points in the order in which they are visited -> (R,) the way through them and back to the first."""
    return (tours - tours.roll(-1, 1)).norm(dim=2).sum(1)
