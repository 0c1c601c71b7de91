"""What pointing shows: sets of points, what was pointed out of them, and the weights of each step."""

from __future__ import annotations

import os
from argparse import Namespace, _ArgumentGroup
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from zoo.data.points.readers import KINDS, OUTPUT, read_sets
from zoo.data.points.spec import PointSpec
from zoo.errors import DataError
from zoo.tasks.pointing import ExaminedPointing, Pointing, PointingPrediction
from zoo.visualize import pointing_page
from zoo.visualize.pointing_text import answer, points, written
from zoo.visualize.view import Predicts, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined, Task


class PointingView(View):
    """Sets of points with what was pointed out of them."""

    noun: ClassVar[str] = "set of points"
    typed: ClassVar[str] = "points.csv"
    columns: ClassVar[tuple[str, ...]] = ("points", "answer", "log-probability", "figures")
    """Points in the order in which they were read, x and y of each; `answer` are their numbers, from 1."""
    style: ClassVar[str] = pointing_page.STYLE

    def __init__(self) -> None:
        self.spec: PointSpec | None = None

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--beam", type=int, metavar="K", help="search with K hypotheses")

    def meet(self, predictor: Predicts) -> None:
        self.spec = predictor.task.spec

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """As in `View`, a set a line; and whatever `zoo.data.points.readers` reads is a file of sets, on the command
        line too."""
        found: list[Any | None] = []
        for word in words:
            found += self._sets(Path(word)) if os.path.isfile(word) else super().read([word], None)
        if file is not None:
            return [*found, *self._sets(file)]
        return found if words else super().read([], None)

    def _sets(self, path: Path) -> list[Any]:
        assert self.spec is not None
        return [one.points for one in read_sets(path, self.spec.goal)]

    def parse(self, line: str) -> list[list[float]]:
        """The coordinates of the points one after the other, with blanks or commas between them."""
        assert self.spec is not None
        fields, width = line.split(OUTPUT)[0].replace(",", " ").replace(";", " ").split(), self.spec.width
        try:
            numbers = [float(field) for field in fields]
        except ValueError as error:
            raise DataError(
                f"{line.strip()[:60]!r}: {error}; expected the coordinates of points, x1 y1 x2 y2 ..., or a file "
                f"({', '.join(KINDS)})"
            ) from None
        if len(numbers) % width:
            raise DataError(f"{line.strip()[:60]!r}: {len(numbers)} numbers; expected {width} for each point")
        return [numbers[at : at + width] for at in range(0, len(numbers), width)]

    def prepare(self, predictor: Predicts, options: Namespace) -> None:
        assert isinstance(predictor.task, Pointing)
        if options.beam is not None:
            predictor.task.search(options.beam, None)

    def row(self, prediction: PointingPrediction) -> list[Any]:
        best = prediction.best
        figures = ", ".join(f"{name} {value:.4g}" for name, value in best.figures.items() if value == value)
        return [points(prediction), answer(prediction), round(best.log_prob, 4), figures]

    def terminal(self, prediction: PointingPrediction, number: int, options: Namespace) -> str:
        return written(prediction)

    def picture(self, prediction: PointingPrediction, examined: Examined | None = None) -> Figure | None:
        from zoo.visualize.pointing_picture import pointing_figure

        return pointing_figure(prediction, examined.target if isinstance(examined, ExaminedPointing) else None)

    def about(self, predictions: Sequence[PointingPrediction | None]) -> str:
        return pointing_page.about(predictions)

    def article(self, prediction: PointingPrediction) -> str:
        return pointing_page.article(prediction)

    def test_pictures(self, task: Task) -> Mapping[str, Callable[[], Figure]]:
        """The figures of each part of the test, where there are several: how a network does on sets larger than those
        it learned from."""
        from zoo.visualize.pointing_picture import figures_figure

        assert isinstance(task, Pointing)
        rows = task.said()
        return {"figures": lambda: figures_figure("test", rows)} if len(rows) > 1 else {}
