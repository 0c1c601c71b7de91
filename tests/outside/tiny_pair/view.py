"""Generated points."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from matplotlib.figure import Figure

from tiny_pair.task import Generated
from zoo.tasks import Task
from zoo.visualize.view import View


class GeneratedView(View):
    """A point for each seed."""

    noun: ClassVar[str] = "seed"
    columns: ClassVar[tuple[str, ...]] = ("seed", "x", "y")

    def row(self, prediction: Generated) -> list[Any]:
        return [prediction.seed, prediction.x, prediction.y]

    def validation_pictures(self, task: Task) -> Mapping[str, Callable[[], Figure]]:
        """200 points from fixed noise, after each validation."""
        generator: Any = task.network.generator  # type: ignore[union-attr]
        noise = torch.randn(200, generator[0].in_features, generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            points = generator(noise.to(task.device)).cpu()

        def drawn() -> Figure:
            figure = Figure(figsize=(3, 3))
            figure.add_subplot().scatter(*points.T)
            return figure

        return {"ring": drawn}
