"""Answers to be shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zoo.tasks.pointing import Pointed, PointingPrediction

SQUARE = ((0.0, 0.0), (4.0, 0.0), (2.0, 1.0), (4.0, 4.0))
HULL = PointingPrediction(
    points=SQUARE,
    goal="hull",
    answers=(
        Pointed(
            numbers=(1, 2, 4),
            log_prob=-0.5,
            score=-0.5,
            finished=True,
            figures={"non_simple": 0.0, "accuracy": 1.0, "area": 1.0},
            attention=(
                (0.0, 0.75, 0.25, 0.0, 0.0),
                (0.0, 0.0, 0.5, 0.5, 0.0),
                (0.125, 0.0, 0.0, 0.125, 0.75),
                (1.0, 0.0, 0.0, 0.0, 0.0),
            ),
        ),
    ),
)


def answered(prediction: PointingPrediction = HULL, goal: str = "hull", **changes: Any) -> PointingPrediction:
    """HULL, or another, with changes of its best answer."""
    return replace(prediction, goal=goal, answers=(replace(prediction.best, **changes),))


TRIANGLES = answered(goal="triangulation", numbers=(1, 2, 3, 2, 3, 4), attention=None, figures={})
TOUR = answered(goal="tour", numbers=(1, 2, 4, 3), attention=None, figures={"invalid": 0.0, "length": 13.5})
ORDER = answered(
    replace(HULL, points=((0.5,), (0.25,), (0.75,))), goal="order", numbers=(2, 1, 3), attention=None, figures={}
)
