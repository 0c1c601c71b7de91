"""What sequences of pointers into a set of points are worth, by what was asked for, and the means of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric

from zoo.metrics.geometry import Reals, area, is_simple, length, same_polygon, same_tour, triangles

MOST_FAILURES = 0.01
"""With a larger share of polygons that are not simple the paper gives no area, but FAIL."""
Judge = Callable[[Reals, Sequence[int], Sequence[int] | None, float], dict[str, float]]
"""Points (n, W), the pointers at them from 0 that a network wrote, its end left out, the true ones where they are
known, how long a unit of the coordinates is -> figures by name. NaN: this one does not count."""


def hull(points: Reals, pointers: Sequence[int], truth: Sequence[int] | None, scale: float) -> dict[str, float]:
    """`accuracy`: it is the true polygon, wherever it begins; `area`: of a simple polygon the share of the true one's
    area, `non_simple`: it is none, such as one that crosses itself, comes back to a point, or has less than three."""
    simple = _exist(pointers, points) and is_simple(points[list(pointers)])
    found = {"non_simple": float(not simple)}
    if truth is not None:
        whole = abs(area(points[list(truth)]))
        found["accuracy"] = float(same_polygon(list(pointers), list(truth)))
        found["area"] = abs(area(points[list(pointers)])) / whole if simple else nan
    return found


def triangulation(
    points: Reals, pointers: Sequence[int], truth: Sequence[int] | None, scale: float
) -> dict[str, float]:
    """`accuracy`: these are the true triangles, and nothing else; `coverage`: the share of them that is there."""
    if truth is None:
        return {}
    right, found = triangles(truth), triangles(pointers)
    return {"accuracy": float(found == right), "coverage": len(found & right) / len(right)}


def tour(points: Reals, pointers: Sequence[int], truth: Sequence[int] | None, scale: float) -> dict[str, float]:
    """`invalid`: not every point comes, each once; of the others `length`, in the units of the source, and `ratio`, to
    that of the target. `accuracy`: it is the target's, wherever it begins and whichever way it goes."""
    valid = sorted(pointers) == list(range(len(points)))
    found = {"invalid": float(not valid), "length": scale * length(points[list(pointers)]) if valid else nan}
    if truth is not None:
        found["ratio"] = found["length"] / (scale * length(points[list(truth)]))
        found["accuracy"] = float(same_tour(list(pointers), list(truth)))
    return found


def order(points: Reals, pointers: Sequence[int], truth: Sequence[int] | None, scale: float) -> dict[str, float]:
    """`accuracy`: all stand where they should."""
    return {} if truth is None else {"accuracy": float(list(pointers) == list(truth))}


JUDGES: Mapping[str, Judge] = {"hull": hull, "triangulation": triangulation, "tour": tour, "order": order}
FIGURES: Mapping[str, tuple[str, ...]] = {
    "hull": ("accuracy", "area", "non_simple"),
    "triangulation": ("accuracy", "coverage"),
    "tour": ("length", "ratio", "invalid", "accuracy"),
    "order": ("accuracy",),
}
"""What a goal's judge finds, the most telling first."""
BEST: Mapping[str, str] = {
    "accuracy": "max",
    "area": "max",
    "non_simple": "min",
    "coverage": "max",
    "length": "min",
    "ratio": "min",
    "invalid": "min",
}
"""Whether of a figure the `max` or the `min` is best."""


def said(name: str, figures: Mapping[str, float]) -> str:
    """A figure as it is shown among all of its row: shares in per cent, and FAIL for an area as the paper has it."""
    value = figures.get(name, nan)
    if name == "area" and figures.get("non_simple", 0.0) > MOST_FAILURES:
        return "FAIL"
    if value != value:
        return "-"
    return f"{value:.4g}" if name in ("length", "ratio") else f"{100 * value:.1f}%"


def _exist(pointers: Sequence[int], points: Reals) -> bool:
    return all(0 <= pointer < len(points) for pointer in pointers)


class GroupMean(Metric):
    """The mean of a figure over all examples, and in each group of them; exact over batches and ranks."""

    full_state_update = False
    total: Tensor
    seen: Tensor

    def __init__(self, groups: int) -> None:
        """Of G = `groups` groups."""
        super().__init__()
        self.add_state("total", torch.zeros(groups, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("seen", torch.zeros(groups, dtype=torch.long), dist_reduce_fx="sum")

    def update(self, values: Sequence[float], group: Tensor) -> None:
        """`values` of B examples, NaN where one does not count; `group` (B,) the number of the group of each."""
        figures = torch.as_tensor(np.asarray(values, np.float64), device=group.device)
        counts = ~figures.isnan()
        self.total.index_add_(0, group[counts], figures[counts])
        self.seen.index_add_(0, group[counts], torch.ones_like(group[counts]))

    def compute(self) -> tuple[Tensor, Tensor]:
        """The mean of all (), and those of the groups (G,); NaN where no example counts."""
        return self.total.sum() / self.seen.sum(), self.total / self.seen
