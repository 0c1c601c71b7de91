"""What pointing shows: sets of points, and what was pointed out of them."""

from __future__ import annotations

from typing import Any, ClassVar

from zoo.tasks.pointing import PointingPrediction
from zoo.visualize.view import View


class PointingView(View):
    """Sets of points with what was pointed out of them."""

    noun: ClassVar[str] = "set of points"
    columns: ClassVar[tuple[str, ...]] = ("points", "answer", "log-probability")

    def row(self, prediction: PointingPrediction) -> list[Any]:
        best = prediction.best
        return [len(prediction.points), " ".join(map(str, best.numbers)), round(best.log_prob, 4)]
