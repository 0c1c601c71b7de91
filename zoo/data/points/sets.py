"""Sets of points: checked before a network reads them, moved into the unit square, and described."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zoo.data.points.goals import Goal
from zoo.data.stored import histogram

FARTHEST = 1e38
"""The largest allowed distance between points, because float32 of batches and networks ends near it."""
FLAT = 1e-9
"""Points count as lying on a line if their distance from it is at most this share of its length."""

IMPROVABLE = "insertion, 2-opt and or-opt, and there may be shorter ones"


class PointSet(NamedTuple):
    """A set of points from a file or a generator."""

    points: NDArray[Any]
    """(n, W) in the units of its source."""
    target: Sequence[int] | None = None
    """Numbers of points from 0, without the end; None where it is not known."""


def table(rows: ArrayLike, goal: Goal) -> NDArray[np.float64]:
    """(n, W) from n rows of W numbers, or from n numbers if W is 1. Raises ValueError for anything else, with what was
    found."""
    try:
        points = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"expected rows of {goal.width} numbers, found {str(rows)[:60]!r}") from None
    if points.ndim == 1 and goal.width == 1:
        points = points[:, None]
    if points.size and (points.ndim != 2 or points.shape[1] != goal.width):
        found = "numbers alone" if points.ndim == 1 else f"rows of shape {tuple(points.shape[1:])}"
        raise ValueError(f"expected rows of {goal.width} number{'s' * (goal.width > 1)}, found {found}")
    return points.reshape(-1, goal.width)


def problem(points: NDArray[Any], goal: Goal) -> str | None:
    """The reason why (n, W) points have no target, with the points counted from 1; None if they have one."""
    if len(points) < goal.fewest:
        return f"a set for goal={goal.name} has at least {goal.fewest} points, found {len(points)}"
    if len(bad := np.argwhere(~np.isfinite(points))):
        row, column = bad[0].tolist()
        return f"coordinate {column + 1} of point {row + 1} is {points[row, column]}; expected a number"
    if not float(points.max()) - float(points.min()) < FARTHEST:
        return f"coordinates go from {points.min():g} to {points.max():g}; expected a difference below {FARTHEST:g}"
    placed, _ = into_unit_square(points)
    order = np.lexsort(placed.T)
    same = (placed[order[1:]] == placed[order[:-1]]).all(1)
    if goal.name == "tour":  # two cities at one place are legal: a tour visits them in sequence
        if same.all():
            return f"all {len(points)} points are at one place, where a tour has no length"
    elif same.any():
        one, two = sorted(order[[at := int(same.argmax()), at + 1]].tolist())
        return f"points {one + 1} and {two + 1} are the same, or too near to each other to be distinguished"
    if goal.spread and flat(points):
        return f"all {len(points)} points lie on a line, where there is no {goal.name}"
    return None


def flat(points: NDArray[Any]) -> bool:
    """Whether (n, 2) points lie on a line."""
    away = points.astype(np.float64) - points[0]
    line = away[(away**2).sum(1).argmax()]
    beside = np.abs(away[:, 0] * line[1] - away[:, 1] * line[0]).max()
    return bool(beside <= FLAT * (line**2).sum())


def near_the_origin(points: NDArray[Any]) -> NDArray[Any]:
    """The points (n, W) moved to begin at 0 and scaled by a power of 2, so that geometry does not depend on their
    distance from 0 or from each other. Points on a line stay on a line, except for the rounding of the move. Points
    inside the unit square are returned unchanged."""
    low, high = points.min(0), points.max(0)
    if low.min() >= 0 and high.max() <= 1:
        return points
    _, exponent = np.frexp((high - low).max())
    return np.ldexp(points - low, -int(exponent))


def into_unit_square(points: NDArray[Any]) -> tuple[NDArray[np.float32], float]:
    """Points (n, W) moved and scaled into the unit square, with one factor, and the length of its side in their units.

    Points inside the unit square are returned unchanged, with 1.
    """
    low, high = points.min(0, initial=np.inf), points.max(0, initial=-np.inf)
    if not len(points) or (low.min() >= 0 and high.max() <= 1):
        return points.astype(np.float32), 1.0
    side = float((high - low).max()) or 1.0
    return ((points - low) / side).astype(np.float32), side


# Descriptions, for `zoo data`


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
