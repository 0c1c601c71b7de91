"""The runs of a folder as `zoo runs` lists them: sorted, with the best or the newest run last."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from rich.text import Text

from zoo.errors import ConfigError, DataError, did_you_mean
from zoo.printable import shown
from zoo.run.record import FINISHED, Record, find_runs, read_run

MOST_METRICS = 3  # Metrics of a run in the table
FACTS: dict[str, Callable[[Record], Any]] = {
    "time": lambda run: run.time,
    "model": lambda run: run.model,
    "data": lambda run: run.data,
    "seed": lambda run: run.seed,
    "epochs": lambda run: run.epochs,
    "parameters": lambda run: run.parameters,
    "seconds": lambda run: run.seconds,
    "state": lambda run: run.state,
}
"""Values besides the metrics by which runs are sorted, in ascending order."""
SCORE = "score"


def read_runs(folder: Path, note: Callable[[str], object]) -> list[Record]:
    """Return the runs of a folder.

    Args:
        folder: it is searched with all folders below it.
        note: is called with one line for each run whose files are damaged; such a run is left out.

    Raises:
        ConfigError: the folder does not exist or has no runs.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder}: folder not found; give a folder with runs, e.g. zoo runs logs")
    found, damaged = list[Record](), 0
    for path in find_runs(folder):
        try:
            found.append(read_run(path))
        except DataError as error:
            damaged += 1
            note(f"left out: {error}")
    if not found and not damaged:
        raise ConfigError(f"{folder}: no runs in it; zoo train starts one, or give another folder")
    return found


def sorted_runs(runs: Iterable[Record], by: str = "time") -> list[Record]:
    """Return the runs in ascending order of a fact, or from the worst to the best value of a metric.

    Runs without the value come first.

    Args:
        runs: the runs.
        by: one of FACTS, `score`, or a metric such as `accuracy`, `test/accuracy` or `val/accuracy`. Without a prefix
            it is the test metric.

    Raises:
        ConfigError: no run has such a metric; with the nearest names.
    """
    runs = sorted(runs, key=lambda run: run.time)
    full = by if by in FACTS or by == SCORE or "/" in by else f"test/{by}"
    metrics = {name for run in runs for name in run.metrics}
    if full not in (*FACTS, SCORE, *metrics):
        short = {name.removeprefix("test/") for name in metrics}
        raise ConfigError(f"--sort {by}: no run has such a metric; {did_you_mean(by, [*short, *FACTS, SCORE])}")
    values = [(value_of(run, full), number) for number, run in enumerate(runs)]
    known = sorted((value, number) for value, number in values if value is not None)
    return [runs[number] for value, number in values if value is None] + [runs[number] for _, number in known]


def value_of(run: Record, name: str) -> Any:
    """Return the value by which a run is sorted: greater is better for metrics. None if it is not known."""
    if name in FACTS:
        return FACTS[name](run) or None
    value = run.score if name == SCORE else run.metrics.get(name)
    metric = (run.monitor if name == SCORE else name).rpartition("/")[2]
    return None if value is None else -value if run.modes.get(metric) == "min" else value


def as_table(runs: Sequence[Record], by: str = "time") -> Table:
    """Return the runs as a table with one line each; `by` is a metric that has a column of its own."""
    named = by not in FACTS and by != SCORE
    titles = ["time", "model", "data", "seed", "epochs", *[by] * named, "metrics", SCORE, "state"]
    right = {"seed", "epochs", by if named else "", SCORE}
    columns = [Column(title, justify="right" if title in right else "left", no_wrap=True) for title in titles]
    table = Table(*columns, Column("folder", overflow="fold"), box=SIMPLE_HEAD, pad_edge=False)
    for run in runs:
        table.add_row(*(Text(shown(cell)) for cell in _cells(run, by if named else None)))
    return table


def _cells(run: Record, by: str | None) -> list[str]:
    metrics = list(run.first_metrics.items())[:MOST_METRICS]
    prefix = "" if run.state == FINISHED else "val: " * bool(metrics)
    named = ", ".join(f"{name.rpartition('/')[2].replace('_', ' ')} {number(value)}" for name, value in metrics)
    own = [] if by is None else [number(run.metrics.get(by if "/" in by else f"test/{by}"))]
    facts = [run.time[:16], run.model, run.data, *("–" if one is None else str(one) for one in (run.seed, run.epochs))]
    return [*facts, *own, prefix + named, number(run.score), run.state, os.path.relpath(run.folder)]


def number(value: float | None) -> str:
    """Return a metric with four significant digits, a large one without decimals, or a dash if it is not known."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"
