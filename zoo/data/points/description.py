"""Describes sets of points in numbers, for `zoo data`, and as text."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zoo.data.points.goals import Goal
from zoo.data.points.sets import PointSet
from zoo.data.stored import histogram

IMPROVABLE = "insertion, 2-opt and or-opt, and there may be shorter ones"


def facts(counts: ArrayLike, lengths: ArrayLike, tours: Sequence[float] = ()) -> dict[str, Any]:
    """Facts about sets of `counts` (N,) points, their targets of `lengths` pointers, and the lengths of their tours."""
    found: dict[str, Any] = {"mean_points": float(np.asarray(counts).mean())}
    pointers = np.asarray(lengths)
    if len(pointers):
        found |= {"mean_pointers": float(pointers.mean()), "pointers": histogram(pointers)}
    if len(tours):
        found["mean_tour_length"] = float(np.mean(tours))
    return found


def tour_length(one: PointSet) -> float:
    """The length of the tour through a set."""
    visited = one.points[list(one.target or ())].astype(np.float64)
    return float(np.linalg.norm(visited - np.roll(visited, -1, 0), axis=1).sum())


def shown(one: PointSet, goal: Goal) -> dict[str, str]:
    """A set and its target as text, the points counted from 1."""
    points = " ".join("(" + ", ".join(f"{value:.4g}" for value in row) + ")" for row in one.points.tolist())
    return {"points": points, goal.name: " ".join(str(number + 1) for number in one.target or ())}


def written(one: PointSet, goal: Goal) -> str:
    """A set as a line of the authors' format, which `zoo.data.points.readers` reads."""
    numbers = " ".join(one.points.ravel().astype(str))
    if one.target is None:
        return f"{numbers}\n"
    target = [*one.target, *(one.target[:1] if goal.closed else [])]
    return " ".join([numbers, "output", *(str(number + 1) for number in target)]) + "\n"
