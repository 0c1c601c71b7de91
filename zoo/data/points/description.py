"""Describes sets of points in numbers, for `zoo data`, and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zoo.data.points.goals import Goal
from zoo.data.points.sets import PointSet
from zoo.data.stored import histogram


def facts(counts: NDArray[Any], lengths: ArrayLike, tours: Sequence[float] | NDArray[Any] = ()) -> dict[str, Any]:
    """Facts about sets of `counts` (N,) points, their targets of `lengths` pointers, and `tours`, if any."""
    found: dict[str, Any] = {"mean_points": float(counts.mean())}
    pointers = np.asarray(lengths)
    if len(pointers):
        found |= {"mean_pointers": float(pointers.mean()), "pointers": histogram(pointers)}
    if len(tours):
        found["mean_tour_length"] = float(np.mean(tours))
    return found


def tour_length(points: NDArray[Any], tour: Sequence[int]) -> float:
    """Length of a closed tour through points (n, 2)."""
    visited = points[list(tour)].astype(np.float64)
    return float(np.linalg.norm(visited - np.roll(visited, -1, 0), axis=1).sum())


def shown(sets: Iterable[PointSet], goal: Goal) -> list[dict[str, Any]]:
    """Sets and their targets as text, the points counted from 1."""
    found = []
    for one in sets:
        points = " ".join("(" + ", ".join(f"{value:.4g}" for value in row) + ")" for row in one.points.tolist())
        target = "" if one.target is None else " ".join(str(number + 1) for number in one.target)
        found.append({"points": points, goal.name: target})
    return found


def written(one: PointSet, goal: Goal) -> str:
    """A set as a line of the authors' format, which `zoo.data.points.readers` reads."""
    numbers = " ".join(one.points.ravel().astype(str))
    if one.target is None:
        return f"{numbers}\n"
    target = [*one.target, *(one.target[:1] if goal.closed else [])]
    return " ".join([numbers, "output", *(str(number + 1) for number in target)]) + "\n"


def sizes_said(low: int, high: int) -> str:
    """`5`, or `5 to 50`."""
    return str(low) if low == high else f"{low} to {high}"
