"""Generated points."""

from __future__ import annotations

from typing import Any, ClassVar

from tiny_pair.task import Generated
from zoo.visualize.view import View


class GeneratedView(View):
    """A point for each seed."""

    noun: ClassVar[str] = "seed"
    columns: ClassVar[tuple[str, ...]] = ("seed", "x", "y")

    def row(self, prediction: Generated) -> list[Any]:
        return [prediction.seed, prediction.x, prediction.y]
