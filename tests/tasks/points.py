"""Batches of points, and the task around a small network that points."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from zoo.data.points.batch import PointBatch, PointSpec
from zoo.tasks.pointing import Pointing

GROUPS = ("n4", "n5")


def spec_of(goal: str, groups: tuple[str, ...] = GROUPS, longest: int = 6) -> PointSpec:
    most = {"triangulation": 3 * (2 * longest - 5) + 1}
    return PointSpec(
        width=1 if goal == "order" else 2,
        longest=longest,
        longest_target=most.get(goal, longest + 1),
        goal=goal,
        groups=groups,
    )


def batch_of(
    sets: Sequence[Sequence[Sequence[float]]],
    targets: Sequence[Sequence[int]] | None = None,
    *,
    group: Sequence[int] | None = None,
    scale: Sequence[float] | None = None,
) -> PointBatch:
    """Sets of points and the pointers to them, from 0. The end is appended."""
    most, width = max(map(len, sets)), len(sets[0][0])
    points, mask = torch.zeros(len(sets), most, width), torch.zeros(len(sets), most, dtype=torch.bool)
    for b, rows in enumerate(sets):
        points[b, : len(rows)], mask[b, : len(rows)] = torch.tensor(rows), True
    ids = real = None
    if targets is not None:
        longest = max(map(len, targets)) + 1
        ids = torch.zeros(len(sets), longest, dtype=torch.long)
        for b, row in enumerate(targets):
            ids[b, : len(row) + 1] = torch.tensor([*(3 + number for number in row), 2])
        real = ids != 0
    return PointBatch(
        points,
        mask,
        target=ids,
        target_mask=real,
        group=None if group is None else torch.tensor(group),
        scale=None if scale is None else torch.tensor(scale),
    )


def exactly(*sets: Sequence[Sequence[float]]) -> PointBatch:
    """Sets without targets, in float64."""
    batch = batch_of(sets)
    return replace(batch, points=batch.points.double())


def pointing(
    goal: str = "hull", *, groups: tuple[str, ...] = GROUPS, longest: int = 6, solved: bool = True, **options: Any
) -> Pointing:
    """A new task with its network, seeded."""
    torch.manual_seed(0)
    told = {
        "model": {"_target_": "zoo.models.PointerNet", "embedding_dim": 16, "hidden_dim": 16, "init_range": None},
        "objective": {"_target_": "zoo.objectives.CrossEntropy"},
        "decoding": {"_target_": "zoo.decoding.Greedy"},
        "optimizer": {"_target_": "torch.optim.Adam", "lr": 0.03},
        "monitor": "val/loss",
        "mode": "min",
    }
    task = Pointing(**{**told, **options})
    task.build(replace(spec_of(goal, groups, longest), solved=solved), None)
    task.prepare_training()
    return task
