"""The rows of results/*.csv: measured runs, for the pages of results and for `zoo show`."""

import csv
import re
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from zoo.errors import DataError

COUNTS = ("failed_tasks", "parameters", "sequences_to_converge")  # They have no decimals


class ResultsError(DataError):
    """A results file or a page that cannot be used: the file, what was found, what was expected."""


@dataclass(frozen=True)
class Row:
    """One run, as written in the file."""

    model: str
    data: str
    source: str
    """Where the data came from: sample, stream, hub, or the name of the real files."""
    metric: str
    ours: str
    paper: str
    """The published number to compare with, empty where there is none for this data."""
    seed: str
    command: str
    """The command that reproduces the row."""
    commit: str
    """The commit that the command ran on."""

    @property
    def line(self) -> tuple[str, ...]:
        """The values that all runs of one line of the table share."""
        return self.model, self.data, self.source, self.metric, self.paper, re.sub(r"\s*\bseed=\S+", "", self.command)


COLUMNS = tuple(field.name for field in fields(Row))


def read(path: Path) -> list[Row]:
    """The rows of one file. Raises ResultsError, with file and line."""
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ResultsError(f"{path}:1: found the columns {reader.fieldnames}, expected {', '.join(COLUMNS)}")
        rows = []
        for cells in reader:
            where = f"{path}:{reader.line_num}"
            if None in cells or None in cells.values():
                raise ResultsError(f"{where}: expected {len(COLUMNS)} cells; quote a cell that holds a comma")
            empty = [name for name in COLUMNS if name != "paper" and not cells[name].strip()]
            if empty:
                raise ResultsError(f"{where}: {', '.join(empty)} is empty")
            try:
                float(cells["ours"]), int(cells["seed"])
            except ValueError as error:
                raise ResultsError(f"{where}: ours is a number and seed a whole number: {error}") from error
            if not re.fullmatch(r"[0-9a-f]{7,40}", cells["commit"]):
                raise ResultsError(f"{where}: commit is {cells['commit']!r}, expected 7 to 40 hexadecimal digits")
            rows.append(Row(**cells))
    return rows


def read_all(folder: Path) -> list[Row]:
    """The rows of every csv file of `folder`, files by name."""
    return [row for path in sorted(folder.glob("*.csv")) for row in read(path)]


def by_line(rows: Iterable[Row]) -> dict[tuple[str, ...], list[Row]]:
    """Return the rows by their `line`: the runs that differ only in the seed."""
    runs: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        runs.setdefault(row.line, []).append(row)
    return runs


def ours(runs: list[Row]) -> str:
    """A single number as written in the file, or the median and the range of several seeds. Counts have no decimals."""
    values = [float(run.ours) for run in runs]
    counts = runs[0].metric in COUNTS
    if len(set(values)) == 1:
        return f"{values[0]:,.0f}" if counts else runs[0].ours
    form = ",.0f" if counts else f".{max(len(run.ours.partition('.')[2]) for run in runs)}f"
    median, low, high = (format(value, form) for value in (statistics.median(values), min(values), max(values)))
    return f"{median} ({low} to {high})"


def seeds(cells: list[list[Row]]) -> str:
    """The number of runs in the cells of a line: `3`, or `1 to 3` where some cells have fewer."""
    counts = {len(runs) for runs in cells if runs}
    return " to ".join(map(str, sorted({min(counts), max(counts)}))) if counts else "–"
