"""The view of pointing: sets of points, the answer, and the attention of each step."""

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
from zoo.visualize.blocks import Beside, Block, Drawn, Grid, Head, Key, Table
from zoo.visualize.points.answer import answer, points, verdict, written
from zoo.visualize.points.drawing import points_drawing
from zoo.visualize.view import Predicts, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined, Task


POINTS = Key("answers", "answer", "Points are counted from 1, in the order in which they were read.")
TARGET = Key("targets", "true answer")
STEPS = Key(
    "",
    "",
    "The grid has the attention of each step to the end and to each point; point at a cell for its number.",
)
NEXT = Key("true", "true next point")


class PointingView(View):
    """Sets of points with their answers."""

    noun: ClassVar[str] = "set of points"
    plural: ClassVar[str] = "sets of points"
    typed: ClassVar[str] = "points.csv"
    columns: ClassVar[tuple[str, ...]] = ("points", "answer", "log-probability", "figures")
    """`points` are in the order in which they were read, with x and y; `answer` has their numbers, counted from 1."""
    title: ClassVar[str] = "What the network pointed out"

    def __init__(self) -> None:
        self.spec: PointSpec | None = None

    def options(self, group: _ArgumentGroup) -> None:
        group.add_argument("--beam", type=int, metavar="K", help="search with K hypotheses")

    def meet(self, predictor: Predicts) -> None:
        self.spec = predictor.task.spec

    def read(self, words: Sequence[str], file: Path | None) -> list[Any | None]:
        """Return the sets, one per line as in `View`, or those of files that `zoo.data.points.readers` reads."""
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
        """Return the points of a line: their coordinates, separated by blanks or commas."""
        assert self.spec is not None
        fields, width = line.split(OUTPUT)[0].replace(",", " ").replace(";", " ").split(), self.spec.width
        try:
            numbers = [float(field) for field in fields]
        except ValueError as error:
            if Path(line.strip()).suffix in KINDS or "/" in line:
                raise DataError(
                    f"{line.strip()}: no such file; expected a file of point sets, or coordinates"
                ) from None
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

    def try_it(self, data: Any) -> str:
        return self.typed

    def blocks(self, prediction: PointingPrediction, examined: Examined | None = None) -> list[Block]:
        best, target = prediction.best, examined.target if isinstance(examined, ExaminedPointing) else None
        said = [f"{prediction.goal} of {len(prediction.points)} points", verdict(prediction)]
        head = Head(
            answer(prediction),
            under=", ".join([*filter(None, said), f"log-probability {best.log_prob:.3f}"]),
            above="answer",
            data={"goal": prediction.goal, "answer": " ".join(map(str, best.numbers))},
        )
        drawing = Drawn(points_drawing(prediction, target), keys=(POINTS, *[TARGET] * bool(target)))
        if not best.attention:
            return [head, drawing]
        written = [*map(str, best.numbers), "end"]
        grid = Grid(
            [f"{step}: {name}" for step, name in zip(range(1, len(best.attention) + 1), written, strict=False)],
            ["end", *map(str, range(1, len(best.attention[0])))],
            best.attention,
            true=set(true_places(best.numbers, target)),
            axes=("steps", "points"),
            keys=(STEPS, *[NEXT] * bool(target)),
        )
        return [head, Beside(drawing, grid)]

    def test_pictures(self, task: Task) -> Mapping[str, Callable[[], Figure]]:
        """Return the figures of each part of the test, e.g. of larger sets than those of the training."""
        from zoo.visualize.renderers.figure import draw

        assert isinstance(task, Pointing)
        rows = task.shown_figures()
        if len(rows) < 2:
            return {}
        return {"figures": lambda: draw([Head("test"), Table(rows)])}


def true_places(numbers: Sequence[int], target: Sequence[int] | None) -> list[tuple[int, int]]:
    """Return (step, place) of the next true point as long as the answer agrees with the target; the end is place 0."""
    if target is None:
        return []
    found = []
    for step, place in enumerate([*target, 0]):
        if list(numbers[:step]) != list(target[:step]):
            break
        found.append((step, place))
    return found
