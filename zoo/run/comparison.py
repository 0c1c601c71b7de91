"""Runs side by side as `zoo compare` shows them: the settings that differ, the metrics, and the curves."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from zoo.errors import DataError
from zoo.run.folder import RESULT
from zoo.run.record import FINISHED, HYDRA, Record, find_runs, read_run, read_yaml
from zoo.run.runs import number
from zoo.visualize.blocks import Block, Columns, Drawn, Rows
from zoo.visualize.curves import METRICS_FILE, drawing, picture

FACTS = {"epochs": "epochs", "steps": "steps", "parameters": "parameters", "seconds": "seconds"}
UNKNOWN = "–"


def read_all(folders: Sequence[Path]) -> list[Record]:
    """Return the records of run folders. Raises DataError for one that is not the folder of a run, or is damaged."""
    found = []
    for folder in folders:
        if not folder.is_dir():
            raise DataError(f"{folder}: folder not found; expected that of a run, e.g. logs/<model>_<data>/<time>")
        if not (folder / RESULT).is_file() and not (folder / METRICS_FILE).is_file():
            below = next(find_runs(folder), None)
            hint = f"; runs are below it, e.g. {below}" if below not in (None, folder) else ""
            raise DataError(
                f"{folder}: neither {RESULT} nor {METRICS_FILE} in it, so that there is nothing to compare{hint}"
            )
        found.append(read_run(folder))
    return found


def tables(runs: Sequence[Record]) -> list[Block]:
    """Return the blocks with the runs, the settings that differ, and the metrics; the best values are marked."""
    facts = [filter(None, (os.path.relpath(run.folder), run.state, run.error)) for run in runs]
    blocks: list[Block] = [Rows([(str(n), ", ".join(row)) for n, row in enumerate(facts, 1)])]
    titles = [str(n) for n in range(1, len(runs) + 1)]
    if settings := list(differing(runs)):
        blocks.append(Columns(titles, settings))
    rows, best = list[Sequence[str]](), set[tuple[int, int]]()
    for name, values, mode in _measured(runs):
        if len({run.data for run, value in zip(runs, values, strict=True) if value is not None}) == 1:
            best |= {(len(rows), column) for column in best_columns(values, mode)}
        rows.append((name, *map(number, values)))
    for name, key in FACTS.items():
        values = [getattr(run, key) for run in runs]
        if any(value is not None for value in values):
            rows.append((name, *(UNKNOWN if value is None else f"{value:,.0f}" for value in values)))
    return [*blocks, Columns(titles, rows, best)]


def differing(runs: Sequence[Record]) -> Iterator[tuple[str, ...]]:
    """Yield each key that is overridden in a run, or chosen with the model or the data, and has different values: its
    name and the value in each run."""
    keys = dict.fromkeys(["model", "data", *(key for run in runs for key in _overrides(run))])
    configs = [_configuration(run.folder) for run in runs]
    for key in keys:
        values = [_overrides(run).get(key, _value(cfg, key)) for run, cfg in zip(runs, configs, strict=True)]
        if len(set(values)) > 1:
            yield key, *values


def _overrides(run: Record) -> dict[str, str]:
    """The overrides of a run by their keys, with the model and the data."""
    words = [word.lstrip("+").partition("=") for word in run.overrides]
    return {key: value for key, _, value in words} | {"model": run.model, "data": run.data}


def _configuration(folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The configuration of a run, and its choices of groups; empty where the files are missing or damaged."""
    try:
        hydra = read_yaml(folder / HYDRA / "hydra.yaml").get("hydra") or {}
        return read_yaml(folder / HYDRA / "config.yaml"), (hydra.get("runtime") or {}).get("choices") or {}
    except (DataError, AttributeError):
        return {}, {}


def _value(configuration: tuple[Mapping[str, Any], Mapping[str, Any]], key: str) -> str:
    """The value of a key that a run does not override: the choice of a group, or what the chosen files say."""
    node, choices = configuration
    if key in choices:
        return str(choices[key])
    found: Any = node
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return UNKNOWN if found is None or isinstance(found, dict) else str(found)


def _measured(runs: Sequence[Record]) -> Iterator[tuple[str, list[float | None], str | None]]:
    """Yield the name of each metric, its value in each run, and its better end if that is known."""
    modes = {name: mode for run in runs for name, mode in run.modes.items()}
    for monitor in dict.fromkeys(run.monitor for run in runs if run.state == FINISHED and run.score is not None):
        scores = [run.score if (run.state, run.monitor) == (FINISHED, monitor) else None for run in runs]
        yield f"best {monitor}", scores, modes.get(monitor.rpartition("/")[2])
    first = [name for run in runs for name in run.first_metrics]
    for name in dict.fromkeys([*first, *(name for run in runs for name in run.metrics)]):
        title = f"last {name}" if name.startswith("val/") else name
        yield title, [run.metrics.get(name) for run in runs], modes.get(name.rpartition("/")[2])


def best_columns(values: Sequence[float | None], mode: str | None) -> set[int]:
    """Return the positions of the best value; empty if it is not known which end is better, or nothing differs."""
    known = [value for value in values if value is not None]
    if mode is None or not any(one != other for one, other in pairwise(known)):
        return set()
    best = (max if mode == "max" else min)(known)
    return {column for column, value in enumerate(values) if value == best}


def names(runs: Sequence[Record]) -> list[str]:
    """Return a name for the legend for each run: the settings that differ, or else its folder."""
    rows = list(differing(runs))
    if not rows:
        return [os.path.relpath(run.folder) for run in runs]
    return [", ".join(_named(key, values[column]) for key, *values in rows) for column in range(len(runs))]


def _named(key: str, value: str) -> str:
    return value if key in ("model", "data") else f"{key.removeprefix('model.')}={value}"


def title(runs: Sequence[Record]) -> str:
    """Return a title: the models and the data."""
    models, data = (
        ", ".join(dict.fromkeys(filter(None, values)))
        for values in zip(*((r.model, r.data) for r in runs), strict=True)
    )
    return f"{models} on {data}"


def curves_picture(runs: Sequence[Record]) -> Any:
    """Return the curves of the runs as a figure. Raises DataError for a run without metrics.csv."""
    under = os.path.relpath(runs[0].folder) if len(runs) == 1 else f"{len(runs)} runs"
    return picture([run.curves(name) for run, name in zip(runs, names(runs), strict=True)], title(runs), under)


def as_page(runs: Sequence[Record]) -> str:
    """Return a page with the tables and the curves. Raises DataError for a run without metrics.csv."""
    from zoo.visualize.renderers.page import page

    curves = [run.curves(name) for run, name in zip(runs, names(runs), strict=True)]
    about = f"{len(runs)} runs. The best of each metric is marked." if len(runs) > 1 else "One run."
    return page(title(runs), about, [tables(runs), [Drawn(drawing(curves, for_page=True))]])
