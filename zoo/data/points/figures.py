"""Scores of sequences of pointers into a set of points, for each goal."""

from collections.abc import Callable, Mapping, Sequence
from math import nan

from zoo.data.points.geometry import Reals, area, is_simple, length, same_polygon, same_tour, triangles

MOST_FAILURES = 0.01
"""With a larger share of polygons that are not simple, the paper prints FAIL instead of the area."""
Judge = Callable[[Reals, Sequence[int], Sequence[int] | None, float], dict[str, float]]
"""Points (n, W), the written pointers from 0 without the end, the true ones or None, and the length of a unit of the
coordinates -> figures by name. A figure of NaN does not count."""


def hull(points: Reals, pointers: Sequence[int], truth: Sequence[int] | None, scale: float) -> dict[str, float]:
    """`accuracy`: it is the true polygon, with any first point. `area`: the share of the true area, for a simple
    polygon. `non_simple`: it crosses itself, repeats a point, or has less than three."""
    simple = all(0 <= pointer < len(points) for pointer in pointers) and is_simple(points[list(pointers)])
    found = {"non_simple": float(not simple)}
    if truth is not None:
        whole = abs(area(points[list(truth)]))
        found["accuracy"] = float(same_polygon(list(pointers), list(truth)))
        found["area"] = abs(area(points[list(pointers)])) / whole if simple else nan
    return found


def triangulation(
    points: Reals, pointers: Sequence[int], truth: Sequence[int] | None, scale: float
) -> dict[str, float]:
    """`accuracy`: exactly the true triangles were written. `coverage`: the share of them that was written."""
    if truth is None:
        return {}
    right, found = triangles(truth), triangles(pointers)
    return {"accuracy": float(found == right), "coverage": len(found & right) / len(right)}


def tour(points: Reals, pointers: Sequence[int], truth: Sequence[int] | None, scale: float) -> dict[str, float]:
    """`invalid`: it does not have every point exactly once. A valid tour has a `length`, in the units of the source,
    and its `ratio` to the target's. `accuracy`: it is the target's, with any first point and in either direction."""
    valid = sorted(pointers) == list(range(len(points)))
    found = {"invalid": float(not valid), "length": scale * length(points[list(pointers)]) if valid else nan}
    if truth is not None:
        found["ratio"] = found["length"] / (scale * length(points[list(truth)]))
        found["accuracy"] = float(same_tour(list(pointers), list(truth)))
    return found


def order(points: Reals, pointers: Sequence[int], truth: Sequence[int] | None, scale: float) -> dict[str, float]:
    """`accuracy`: all pointers are in the right places."""
    return {} if truth is None else {"accuracy": float(list(pointers) == list(truth))}


JUDGES: Mapping[str, Judge] = {"hull": hull, "triangulation": triangulation, "tour": tour, "order": order}
FIGURES: Mapping[str, tuple[str, ...]] = {
    "hull": ("accuracy", "area", "non_simple"),
    "triangulation": ("accuracy", "coverage"),
    "tour": ("length", "ratio", "invalid", "accuracy"),
    "order": ("accuracy",),
}
"""The figures of each goal, the most important first."""
BEST: Mapping[str, str] = {
    "accuracy": "max",
    "area": "max",
    "non_simple": "min",
    "coverage": "max",
    "length": "min",
    "ratio": "min",
    "invalid": "min",
}
"""Whether the `max` or the `min` of a figure is best."""


def figure_text(name: str, figures: Mapping[str, float]) -> str:
    """A figure of a row as text: shares in per cent, and FAIL for an area as in the paper."""
    value = figures.get(name, nan)
    if name == "area" and figures.get("non_simple", 0.0) > MOST_FAILURES:
        return "FAIL"
    if value != value:
        return "-"
    return f"{value:.4g}" if name in ("length", "ratio") else f"{100 * value:.1f}%"
