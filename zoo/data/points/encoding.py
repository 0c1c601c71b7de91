"""Sets of points to batches, of a stream, of files and when predicting, through the same padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from zoo.data.encoder import Encoder
from zoo.data.points.batch import PointBatch
from zoo.data.points.goals import GOALS
from zoo.data.points.sets import into_unit_square, problem, table
from zoo.data.points.spec import PointSpec
from zoo.errors import DataError, one_of

BEGIN, END, FIRST = PointSpec.begin, PointSpec.end, PointSpec.first


class PointEncoder(Encoder):
    """Sets to batches by the rules of the training data: sets inside the unit square stay where they are, others are
    moved and scaled into it."""

    def __init__(self, goal: str) -> None:
        """`goal` is a name of `zoo.data.points.goals`."""
        self.goal = GOALS[one_of("data.goal", goal, GOALS)]

    def __call__(self, inputs: Sequence[ArrayLike], targets: Sequence[Sequence[int]] | None = None) -> PointBatch:
        """A batch of sets, each n rows of W numbers in the units of its source, or n numbers where W is 1; `targets`
        are numbers of points from 0, without the end. Raises DataError for a set in which the goal cannot be found."""
        placed = [into_unit_square(self.checked(one, f"set {number}")) for number, one in enumerate(inputs, 1)]
        scale = np.array([side for _, side in placed], np.float32)
        return padded([points for points, _ in placed], self.goal.width, targets, scale=torch.from_numpy(scale))

    def checked(self, one: ArrayLike, place: str) -> NDArray[np.float64]:
        """A set (n, W). Raises DataError, with its `place`, for what is none that the goal can be found in."""
        try:
            points = table(one, self.goal)
        except ValueError as error:
            raise DataError(f"{place}: {error}") from None
        if (found := problem(points, self.goal)) is not None:
            raise DataError(f"{place}: {found}")
        return points

    def display(self, one: ArrayLike) -> list[tuple[float, ...]]:
        """The points of a set in the units of its source."""
        return [tuple(row) for row in table(one, self.goal).tolist()]

    def state(self) -> dict[str, Any]:
        return {"goal": self.goal.name}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        return cls(state["goal"])


def padded(
    sets: Sequence[NDArray[Any]], width: int, targets: Sequence[Sequence[int]] | None = None, **more: torch.Tensor
) -> PointBatch:
    """A batch of sets (n, W) that lie in the unit square; `targets` as in `PointEncoder`, `more` as in
    `PointBatch.of`."""
    counts = np.array([len(points) for points in sets], np.int64)
    mask = np.arange(counts.max(initial=0)) < counts[:, None]
    points = np.zeros((*mask.shape, width), np.float32)
    points[mask] = np.concatenate([np.zeros((0, width), np.float32), *sets])
    written = () if targets is None else tokens(targets)
    return PointBatch.of(torch.from_numpy(points), torch.from_numpy(mask), *written, begin=BEGIN, **more)


def tokens(targets: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Numbers of points from 0 as padded ids (B, T), each row with its end, and their mask."""
    counts = np.array([len(target) for target in targets], np.int64)
    step = np.arange(counts.max(initial=0) + 1)
    ids = np.full((len(counts), len(step)), PointSpec.padding, np.int64)
    ids[step < counts[:, None]] = np.array([number for target in targets for number in target], np.int64) + FIRST
    ids[np.arange(len(counts)), counts] = END
    return torch.from_numpy(ids), torch.from_numpy(step <= counts[:, None])
