"""The curves of runs: loss, headline metrics and learning rate over the steps, as metrics.csv has them."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from zoo.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.visualize.drawing import Drawing
    from zoo.visualize.plots import Line, Plot

METRICS_FILE, PICTURE = "metrics.csv", "curves.png"
MOST_METRICS = 4  # Metrics that a picture shows besides the loss and the learning rate
MOST_POINTS = 300  # Points of a line; of more points, the means of neighbours are drawn
COLUMNS = 2  # Plots side by side
APART = 26  # Pixels between two plots

Series = Sequence[tuple[int, float]]  # Steps and values


@dataclass(frozen=True)
class Curves:
    """The logged metrics of one run."""

    series: Mapping[str, Series]  # By the name of the metric
    name: str = ""  # The name of the run in a legend
    headline: Sequence[str] = ()  # The metrics by which models are compared first, without `val/` or `test/`
    modes: Mapping[str, str] = field(default_factory=dict)  # `max` or `min`, by the name of such a metric

    def get(self, name: str) -> Series:
        """Return a series, which is empty if the run has not logged the metric."""
        return self.series.get(name, ())

    def shown(self) -> list[str]:
        """Return the metrics to be shown: those of the headline that were validated, or else all that were."""
        validated = [name.removeprefix("val/") for name in self.series if name.startswith("val/")]
        wanted = [name for name in self.headline if name in validated] or validated
        return [name for name in wanted if name != "loss"]


def read_series(path: Path) -> dict[str, list[tuple[int, float]]]:
    """Return the series of a metrics.csv, by the names of their columns.

    A last line that a killed run has not finished is left out.

    Raises:
        DataError: the file cannot be read, or a line has other cells than the header says.
    """
    found: dict[str, list[tuple[int, float]]] = {}
    waiting: DataError | None = None
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if "step" not in (reader.fieldnames or ()):
                raise DataError(f"{path}: expected the metrics of a run, with a column named step, found none")
            for cells in reader:
                if waiting is not None:
                    raise waiting
                try:
                    step = int(cells.pop("step"))
                    values = {name: float(cell) for name, cell in cells.items() if cell}
                except (TypeError, ValueError) as error:
                    waiting = DataError(f"{path}:{reader.line_num}: expected a number in each cell: {error}")
                    continue
                for name, value in values.items():
                    found.setdefault(name, []).append((step, value))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return found


def has_curves(series: Mapping[str, Series]) -> bool:
    """Whether a training has logged any metrics; a test alone has none."""
    return any(name.startswith(("train/", "val/")) for name in series)


def picture(runs: Sequence[Curves], title: str = "", under: str = "") -> Figure:
    """Return the curves of one or several runs as a figure, with a title and a line under it."""
    from zoo.visualize.blocks import Drawn, Head
    from zoo.visualize.renderers.figure import draw

    return draw([*[Head(title, under=under)] * bool(title), Drawn(drawing(runs))])


def drawing(runs: Sequence[Curves], *, for_page: bool = False) -> Drawing:
    """Return the curves of one or several runs as a drawing: plots side by side, and a legend of the runs."""
    from zoo.visualize.drawing import Drawing
    from zoo.visualize.letters import Letters
    from zoo.visualize.plots import HEIGHT, WIDTH, draw_plot, legend

    letters = Letters(for_page=for_page)
    plots = list(_of_one(runs[0]) if len(runs) == 1 else _of_several(runs))
    sheet = Drawing(COLUMNS * WIDTH + (COLUMNS - 1) * APART)
    sheet.spoken = f"Curves of {len(runs)} runs: {', '.join(plot.title for plot in plots)}"
    if len(runs) > 1:
        entries = legend([run.name for run in runs], sheet.width, letters)
        sheet.place(entries, 0, 0)
        sheet.height = entries.height
    for number, plot in enumerate(plots):
        left, top = number % COLUMNS * (WIDTH + APART), sheet.height + number // COLUMNS * (HEIGHT + APART)
        part = draw_plot(plot, letters)
        sheet.place(part, left, top)
        sheet.spots += [spot._replace(x=spot.x + left, y=spot.y + top) for spot in part.spots]
    sheet.height += math.ceil(len(plots) / COLUMNS) * (HEIGHT + APART)
    return sheet


def _of_one(run: Curves) -> Iterator[Plot]:
    """The plots of a single run, in which training and validation are beside each other."""
    from zoo.visualize.plots import Line, Plot

    steps, epochs, validated = run.get("train/loss_step"), run.get("train/loss"), run.get("val/loss")
    lines = [
        Line("step curves", thinned(steps), "training, by step" if steps else ""),
        Line("epoch curves", thinned(epochs), "training, mean of an epoch" if epochs else ""),
        _validation(run, "loss", 1, "validation" if validated else ""),
    ]
    if any(line.points for line in lines):  # a task of several optimisers need not have one loss
        yield Plot("loss", lines, may_be_log=True)
    for metric in run.shown()[:MOST_METRICS]:
        yield Plot(title_of(metric), [_validation(run, metric, 1, "validation")])
    yield from _rates([run])


def _of_several(runs: Sequence[Curves]) -> Iterator[Plot]:
    from zoo.visualize.plots import Line, Plot, kind

    training = [run.get("train/loss_step") or run.get("train/loss") for run in runs]
    lines = [Line(kind(number), thinned(series)) for number, series in enumerate(training, 1)]
    if any(line.points for line in lines):
        yield Plot("training loss", lines, may_be_log=True)
    names = dict.fromkeys(name for run in runs for name in run.shown()[:MOST_METRICS])
    for metric in ("loss", *list(names)[:MOST_METRICS]):
        lines = [_validation(run, metric, number) for number, run in enumerate(runs, 1)]
        if any(line.points for line in lines):
            title = "validation loss" if metric == "loss" else title_of(metric)
            yield Plot(title, lines, may_be_log=metric == "loss")
    yield from _rates(runs)


def _rates(runs: Sequence[Curves]) -> Iterator[Plot]:
    from zoo.visualize.plots import Line, Plot, kind

    names = dict.fromkeys(name for run in runs for name in run.series if name.startswith("train/learning_rate"))
    for name in names:
        lines = [Line(kind(number), thinned(run.get(name))) for number, run in enumerate(runs, 1)]
        yield Plot(title_of(name.removeprefix("train/")), lines, from_zero=True)


def _validation(run: Curves, metric: str, number: int, label: str = "") -> Line:
    """The line of a validation metric of run `number`, with the best of its points."""
    from zoo.visualize.plots import Line, kind

    series = run.get(f"val/{metric}")
    mode = run.modes.get(metric, "min" if metric == "loss" else None)
    best = None if mode is None else best_of(series, mode)
    return Line(kind(number), thinned(series), label, marked=True, best=best, highest=mode == "max", name=run.name)


def best_of(series: Series, mode: str) -> tuple[int, float] | None:
    """Return the first step with the best value, `max` or `min`, and the value; None if no value is a number."""
    known = [(step, value) for step, value in series if math.isfinite(value)]
    return (max if mode == "max" else min)(known, key=lambda point: point[1], default=None)


def title_of(metric: str) -> str:
    """Return the name of a metric in words."""
    return metric.replace("_", " ")


def thinned(series: Series, most: int = MOST_POINTS) -> list[tuple[float, float]]:
    """Return at most `most` points, each the mean of as many neighbours. A mean with a NaN is NaN."""
    width = math.ceil(len(series) / most) or 1
    groups = (series[start : start + width] for start in range(0, len(series), width))
    return [(_mean([step for step, _ in group]), _mean([value for _, value in group])) for group in groups]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
