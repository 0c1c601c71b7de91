"""Encodes sets of points as batches; streams, files and prediction use the same encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from zoo.data.parts import Number, Numbers, Ragged, Stored, flattened, gridded, padded
from zoo.data.points.batch import PointBatch, PointSpec
from zoo.data.points.goals import GOALS, Goal
from zoo.data.points.sets import PointSet, into_unit_square, near_the_origin, problem, table
from zoo.data.stored import list_array, offsets
from zoo.data.table_encoder import TableEncoder
from zoo.data.text.options import NoText
from zoo.errors import DataError, one_of

if TYPE_CHECKING:
    from zoo.data.streams import Made

NUMBERS = pa.list_(pa.int32())


class PointEncoder(TableEncoder):
    """Sets to batches by the rules of the training data: sets inside the unit square stay where they are, others are
    moved and scaled into it."""

    takes = "a set of points, an array (n, 2) or a list of (x, y)"
    options = NoText
    raw = pa.schema(
        {
            "points": pa.list_(pa.float64()),  # (n * W,) in the units of the source
            "target": NUMBERS,  # if it is null, it is computed
            "key": pa.int64(),
        }
    )
    given = ("points",)
    parts = (
        Numbers("points"),  # (n * W,) in the unit square
        Number("scale", np.float32),
        Numbers("target"),
        Number("group"),
        Stored("found"),  # whether the target was computed
    )

    def __init__(self, goal: str) -> None:
        """`goal` is a name of `zoo.data.points.goals`."""
        super().__init__(NoText())
        self._goal = one_of("data.goal", goal, GOALS)

    @property
    def goal(self) -> Goal:
        return GOALS[self._goal]

    def __call__(self, inputs: Sequence[ArrayLike], targets: Sequence[Sequence[int]] | None = None) -> PointBatch:
        """A batch of sets, each n rows of W numbers in the units of its source, or n numbers where W is 1; `targets`
        are numbers of points from 0, without the end. Raises DataError for a set in which the goal cannot be found."""
        rows: list[dict[str, Any]] = [
            {"points": self.checked(one, f"set {number}").ravel()} for number, one in enumerate(inputs, 1)
        ]
        if targets is not None:
            rows = [{**row, "target": target} for row, target in zip(rows, targets, strict=True)]
        return self.encode(rows)

    def made(self, made: Made) -> PointBatch:
        """A batch of a stream. Its sets are inside the unit square already, so that they need no table."""
        sets = self.solved(made)
        parts: dict[str, Any] = {
            "points": ragged([one.points.ravel() for one in sets]),
            "scale": torch.ones(len(sets)),
            "group": torch.tensor([row["group"] for row in made.examples]),
        }
        if sets[0].target is not None:
            parts["target"] = ragged([one.target for one in sets])
        return self.batch(parts, torch.tensor(made.numbers))

    def solved(self, made: Made) -> list[PointSet]:
        """The sets of a stream, with their targets unless they are drawn without."""
        points = [row["points"] for row in made.examples]
        return list(map(PointSet, points, self.goal.targets(points) if made.examples[0]["solved"] else repeat(None)))

    def checked(self, one: ArrayLike, place: str) -> NDArray[np.float64]:
        """A set (n, W). Raises DataError, with its `place`, if the goal cannot be found in it."""
        try:
            points = table(one, self.goal)
        except ValueError as error:
            raise DataError(f"{place}: {error}") from None
        if (found := problem(points, self.goal)) is not None:
            raise DataError(f"{place}: {found}")
        return points

    def tokens(self, table: pa.Table) -> pa.Table:
        """Move and scale sets into the unit square, and compute the targets that are null."""
        column, (lengths,) = flattened(table["points"].combine_chunks())
        flat = np.asarray(column)
        points, ends = flat.reshape(-1, self.goal.width), offsets(self.counts(lengths)).tolist()
        sets = [points[begin:end] for begin, end in pairwise(ends)]
        placed, scales, near = flat.astype(np.float32), np.ones(len(sets), np.float32), sets
        if len(flat) and not 0 <= flat.min() <= flat.max() <= 1:
            moved, sides = zip(*map(into_unit_square, sets), strict=True)
            placed, scales = np.concatenate(moved).ravel(), np.array(sides, np.float32)
            near = [near_the_origin(one) for one in sets]
        columns = {
            "points": list_array(pa.array(placed), lengths),
            "scale": pa.array(scales),
            **({"group": table["group"]} if "group" in table.column_names else {}),
        }
        if "target" in table.column_names:
            given = table["target"].to_pylist()
            found = iter(self.goal.targets([near[number] for number, target in enumerate(given) if target is None]))
            targets = [next(found) if target is None else target for target in given]
            columns |= {"target": pa.array(targets, NUMBERS), "found": pc.is_null(table["target"])}
        return pa.table(columns)

    def counts(self, lengths: ArrayLike) -> NDArray[np.int64]:
        """(N,) points of each set, from the lengths of the lists of coordinates."""
        return np.asarray(lengths).astype(np.int64) // self.goal.width

    def sets(self, table: pa.Table) -> list[PointSet]:
        """The sets of a table that `tokens` made."""
        points = [np.array(one, np.float32).reshape(-1, self.goal.width) for one in table["points"].to_pylist()]
        targets = table["target"].to_pylist() if "target" in table.column_names else [None] * len(points)
        return list(map(PointSet, points, targets))

    def batch(self, parts: Mapping[str, Any], index: Tensor) -> PointBatch:
        points, target = parts["points"], parts.get("target")
        group: Any = parts.get("group")
        counts = self.counts(points.lengths)
        mask = np.arange(counts.max(initial=0)) < counts[:, None]
        ids = real = None
        if target is not None:
            ids, real = padded(target.values + PointSpec.first, [target.lengths], PointSpec.end)
        return PointBatch(
            gridded(points.values.reshape(-1, self.goal.width), mask),
            torch.from_numpy(mask),
            target=ids,
            target_mask=real,
            begin=PointSpec.begin,
            scale=parts["scale"],
            index=index,
            group=group,
        )

    def display(self, one: ArrayLike) -> list[tuple[float, ...]]:
        """The points of a set in the units of its source."""
        return [tuple(row) for row in table(one, self.goal).tolist()]

    def state(self) -> dict[str, Any]:
        return {"goal": self.goal.name}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        return cls(state["goal"])


def ragged(rows: Sequence[Any]) -> Ragged:
    """Rows of numbers, in sequence."""
    return Ragged(np.concatenate(rows), np.array([len(row) for row in rows]))
