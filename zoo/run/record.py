"""Run folders as plain data, for `zoo runs` and `zoo compare`: finished runs, and those that were stopped or killed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from zoo.errors import DataError
from zoo.run.folder import FAILED, RESULT
from zoo.visualize.curves import METRICS_FILE, Curves, read_series

FINISHED, STOPPED, FAILURE, UNFINISHED = "finished", "stopped", "failed", "unfinished"
"""The states of a run. An unfinished one is still running, or was killed."""
HYDRA = ".hydra"
INSIDE = {HYDRA, "checkpoints", "wandb", "tensorboard"}  # Folders of a run in which no runs are
STAMP = re.compile(r"(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)-(\d\d)")
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where libyaml is installed
EXPECTED: Mapping[str, tuple[type, ...]] = {
    "model": (str,), "data": (str,), "metrics": (dict,), "overrides": (list,), "headline": (list,), "modes": (dict,),
    "seed": (int,), "epochs": (int,), "steps": (int,), "parameters": (int,), "wall_seconds": (int, float),
    "monitor": (str,), "mode": (str,), "score": (int, float, type(None)), "source": (str,), "task": (str,),
}  # fmt: skip
"""The types of the values of a result.json that are read here. A value may be missing, as in a file of an earlier
version, but for the model, the data and the metrics."""


@dataclass(frozen=True)
class Record:
    """One run. Values that are not known are None or empty."""

    folder: Path
    state: str
    time: str = ""  # When the run began, as 2026-01-31 12:00:00
    model: str = ""
    data: str = ""
    task: str = ""
    source: str = ""
    seed: int | None = None
    epochs: int | None = None
    steps: int | None = None
    parameters: int | None = None
    seconds: float | None = None
    monitor: str = ""
    score: float | None = None  # The best value of the monitored metric; of an unfinished run the last one
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """The test metrics, named test/..., and None for one that the data do not define. Of an unfinished run the last
    validation metrics, named val/..."""
    headline: tuple[str, ...] = ()  # The metrics by which models are compared first, without `test/`
    modes: Mapping[str, str] = field(default_factory=dict)  # `max` or `min`, by the name without `test/` or `val/`
    overrides: tuple[str, ...] = ()
    error: str = ""  # Why the run was stopped or failed

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `zoo runs --json` prints it."""
        return {
            name: str(value) if name == "folder" else value for name, value in vars(self).items() if name != "modes"
        }

    @cached_property
    def first_metrics(self) -> dict[str, float | None]:
        """The metrics of the headline, or else the monitored one and the others without the loss."""
        stage = "test" if self.state == FINISHED else "val"
        named = [f"{stage}/{name}" for name in self.headline if f"{stage}/{name}" in self.metrics]
        named = named or sorted(self.metrics, key=lambda name: (name != self.monitor, name.endswith("/loss")))
        return {name: self.metrics[name] for name in named}

    def curves(self, name: str = "") -> Curves:
        """Return the logged metrics, under a name for a legend. Raises DataError if they cannot be read."""
        path = self.folder / METRICS_FILE
        if not path.is_file():
            raise DataError(f"{path}: file not found; a run writes it with logger=csv, the default")
        return Curves(read_series(path), name, self.headline, self.modes)


def find_runs(folder: Path) -> Iterator[Path]:
    """Yield the folders of runs in `folder`, itself and the jobs of sweeps included, in the order of their names."""
    for path, folders, files in os.walk(folder):
        if RESULT in files or HYDRA in folders:
            yield Path(path)
        folders[:] = sorted((name for name in folders if name not in INSIDE), key=lambda name: (len(name), name))


def read_run(folder: Path) -> Record:
    """Return the record of a run's folder. Raises DataError if a file of it is damaged."""
    if (folder / RESULT).is_file():
        return _finished(folder)
    if not (folder / HYDRA).is_dir():
        raise DataError(f"{folder}: not the folder of a run: it has neither {RESULT} nor {HYDRA}")
    return _unfinished(folder)


def _finished(folder: Path) -> Record:
    path = folder / RESULT
    result = _json(path)
    for name, kinds in EXPECTED.items():
        missing = name not in result
        if missing and name not in ("model", "data", "metrics"):
            continue
        if missing or not isinstance(result[name], kinds) or isinstance(result[name], bool):
            found = "nothing" if missing else repr(result[name])
            raise DataError(f"{path}: {name}: expected {' or '.join(kind.__name__ for kind in kinds)}, found {found}")
    for name, value in result["metrics"].items():
        if not isinstance(value, int | float | None) or isinstance(value, bool):
            raise DataError(f"{path}: metrics.{name}: expected a number or null, found {value!r}")
    monitor, mode = result.get("monitor", ""), result.get("mode", "")
    same = ("model", "data", "task", "source", "seed", "epochs", "steps", "parameters", "score", "metrics")
    return Record(
        folder,
        FINISHED,
        _time(folder),
        monitor=monitor,
        seconds=result.get("wall_seconds"),
        headline=tuple(str(name).removeprefix("test/") for name in result.get("headline", ())),
        modes=result.get("modes") or {"loss": "min", monitor.removeprefix("val/"): mode},
        overrides=tuple(map(str, result.get("overrides", ()))),
        **{name: result[name] for name in same if name in result},
    )


def _unfinished(folder: Path) -> Record:
    hydra = read_yaml(folder / HYDRA / "hydra.yaml").get("hydra") or {}
    cfg = read_yaml(folder / HYDRA / "config.yaml")
    choices = (hydra.get("runtime") or {}).get("choices") or {}
    overrides = (hydra.get("overrides") or {}).get("task") or []
    monitor, seed = str((cfg.get("task") or {}).get("monitor") or ""), cfg.get("seed")
    path = folder / METRICS_FILE
    series = read_series(path) if path.is_file() else {}
    metrics: dict[str, float | None] = {
        name: points[-1][1] if points[-1][1] - points[-1][1] == 0 else None  # JSON has neither NaN nor infinity
        for name, points in series.items()
        if name.startswith("val/")
    }
    state, error = _end(folder)
    return Record(
        folder,
        state,
        _time(folder),
        str(choices.get("model") or ""),
        str(choices.get("data") or ""),
        str(choices.get("task") or ""),
        seed=seed if isinstance(seed, int) else None,
        epochs=int(series["epoch"][-1][1]) + 1 if "epoch" in series else None,
        steps=max((points[-1][0] + 1 for points in series.values()), default=None),
        monitor=monitor,
        score=metrics.get(monitor),
        metrics=metrics,
        modes={"loss": "min"},
        overrides=tuple(map(str, overrides)),
        error=error,
    )


def _end(folder: Path) -> tuple[str, str]:
    """The state of a run without a result, and why it ended."""
    if not (folder / FAILED).is_file():
        return UNFINISHED, ""
    failure = _json(folder / FAILED)
    code = failure.get("exit_code")
    stopped = isinstance(code, int) and code > 128  # 128 and the number of a signal
    return STOPPED if stopped else FAILURE, str(failure.get("error", ""))


def _time(folder: Path) -> str:
    """When a run began: the time in its folder's name, or else that of its first file."""
    if found := STAMP.match(folder.name):
        return f"{found[1]} {found[2]}:{found[3]}:{found[4]}"
    for path in (folder / HYDRA / "overrides.yaml", folder / RESULT):
        if path.is_file():
            return datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m-%d %H:%M:%S")
    return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as JSON: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected an object, found {type(content).__name__}")
    return content


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the content of a file that Hydra wrote; empty if there is none, as in a folder that is being made.

    Raises DataError if it is damaged."""
    if not path.is_file():
        return {}
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), LOADER)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise DataError(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected keys with values, found {type(content).__name__}")
    return content
