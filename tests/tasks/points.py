"""A small network that points, batches for it, and the task around it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from zoo.attention import masked_softmax
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.layers.state import State, Step
from zoo.models.output import Output
from zoo.objectives.feeding import walk
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


class Pointer(nn.Module):
    """A GRU cell over the points pointed at, and additive attention as the output."""

    tasks = ("pointing",)
    attends: ClassVar[Mapping[str, str]] = {"source": "memory_mask"}

    def __init__(self, spec: PointSpec, *, width: int = 16) -> None:
        super().__init__()
        self.first = spec.first
        self.point, self.read = nn.Linear(spec.width, width), nn.Linear(spec.width, width)
        self.end, self.begin = nn.Parameter(torch.randn(width)), nn.Parameter(torch.randn(width))
        self.mix = nn.Linear(2 * width, width)
        self.cell = nn.GRUCell(width, width)
        self.query, self.score = nn.Linear(width, width), nn.Linear(width, 1)

    def start(self, batch: PointBatch) -> State:
        states = self.point(batch.points).tanh() * batch.point_mask[..., None]
        mean = states.sum(1) / batch.point_mask.sum(1, keepdim=True).clamp(min=1)
        states = self.mix(torch.cat([states, mean[:, None].expand_as(states)], 2))
        keys = torch.cat([self.end.expand(len(states), 1, -1), states], 1)
        memory = {"keys": keys, "mask": batch.memory_mask, "points": batch.points}
        return State(memory, {"hidden": mean[:, None]})

    def step(self, tokens: Tensor, state: State) -> Step:
        points, before = state.memory["points"], state.hypotheses["hidden"]
        at = (tokens - self.first).clamp(min=0)
        row = torch.arange(len(points), device=tokens.device)[:, None]
        read = torch.where(tokens[..., None] >= self.first, self.read(points[row, at]), self.begin)
        hidden = self.cell(read.flatten(0, 1), before.flatten(0, 1)).view_as(before)
        scores = self.score((state.memory["keys"][:, None] + self.query(hidden)[:, :, None]).tanh()).squeeze(3)
        mask = state.memory["mask"][:, None].expand_as(scores)
        log_probs = scores.masked_fill(~mask, -torch.inf).log_softmax(2)
        nothing = log_probs.new_full((*log_probs.shape[:2], 2), -torch.inf)
        weights = masked_softmax(scores, mask)
        return Step(torch.cat([nothing, log_probs], 2), State(state.memory, {"hidden": hidden}), {"source": weights})

    def forward(self, batch: PointBatch, *, need_weights: bool = True) -> Output:
        return walk(self, batch, lambda _, truth: truth, need_weights=need_weights)


def pointing(
    goal: str = "hull", *, groups: tuple[str, ...] = GROUPS, longest: int = 6, solved: bool = True, **options: Any
) -> Pointing:
    """A new task with its network, seeded."""
    torch.manual_seed(0)
    told = {
        "model": {"_target_": "tests.tasks.points.Pointer"},
        "objective": {"_target_": "zoo.objectives.CrossEntropy"},
        "decoding": {"_target_": "zoo.decoding.Greedy"},
        "optimizer": {"_target_": "torch.optim.Adam", "lr": 0.01},
        "monitor": "val/loss",
        "mode": "min",
    }
    task = Pointing(**{**told, **options})
    task.build(replace(spec_of(goal, groups, longest), solved=solved), None)
    task.prepare_training()
    return task
