"""The results of a run: result.json and the table on the screen."""

import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from hydra.core.hydra_config import HydraConfig
from lightning.pytorch.loggers import WandbLogger
from omegaconf import DictConfig
from rich.console import Console
from rich.table import Table

import zoo
from zoo.run import search_path
from zoo.run.build import Parts
from zoo.run.folder import RESULT, write_whole
from zoo.visualize.view import view_of

PACKAGES = ("torch", "torchvision", "lightning", "hydra-core", "torchmetrics", "datasets", "wandb")


def report(
    cfg: DictConfig,
    parts: Parts,
    *,
    metrics: dict[str, float],
    score: float | None,
    spent: dict[str, float],
    checkpoint: str | None,
) -> None:
    """Write result.json into the run folder and print the final table, on rank 0. `spent` holds seconds by phase."""
    trainer, task, data = parts.trainer, parts.task, parts.data
    if not trainer.is_global_zero:
        return
    job = HydraConfig.get()
    folder = Path(job.runtime.output_dir)
    rates = parts.throughput
    rate = rates.examples_per_second * trainer.world_size if rates else 0.0
    network = task.network
    assert network is not None
    result: dict[str, Any] = {
        "model": job.runtime.choices["model"],
        "data": job.runtime.choices["data"],
        "source": data.source_description,
        "sizes": data.sizes,
        "task": task.name,
        "seed": cfg.seed,
        "threads": torch.get_num_threads(),
        "parameters": sum(p.numel() for p in network.parameters()),
        "epochs": trainer.current_epoch if cfg.train else 0,
        "steps": trainer.fit_loop.epoch_loop.global_step if cfg.train else 0,
        "devices": trainer.world_size,
        "wall_seconds": round(sum(spent.values()), 2),
        "phases": {name: round(seconds, 4) for name, seconds in spent.items()},
        "examples_per_second": round(rate, 1),
        "rate": {
            "unit": f"{rates.unit}/s" if rates else "examples/s",
            "value": round(rates.units_per_second * trainer.world_size, 1) if rates else 0.0,
        },
        "metrics": {name: defined(value) for name, value in metrics.items()},
        "signatures": task.signatures(),
        "headline": [f"test/{name}" for name in task.headline],
        "monitor": task.monitor,
        "mode": task.mode,
        "modes": dict(task.monitors),
        "score": None if score is None else defined(score),
        "checkpoint": checkpoint,
        "folder": str(folder),
        "overrides": list(job.overrides.task),
        "tags": list(cfg.tags),
        "versions": {
            "attention-zoo": zoo.__version__,
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "git_commit": git_commit(),
    }
    if cfg.test:
        result |= task.facts()
    write_whole(folder / RESULT, json.dumps(result, indent=2) + "\n")
    if cfg.test and (baselines := task.baselines(data)):  # the result is stored already: a baseline may take hours
        result["baselines"] = baselines
        write_whole(folder / RESULT, json.dumps(result, indent=2) + "\n")
    for logger in trainer.loggers:
        if isinstance(logger, WandbLogger):
            logger.experiment.summary.update(model_card(result))
    _print(result, task.counts, task.remarks(metrics), view_of(task).try_it(parts.data))


def model_card(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a result.json for the summary of a wandb run, with the test metrics among them."""
    return {**{name: value for name, value in result.items() if name != "metrics"}, **result["metrics"]}


def defined(value: float) -> float | None:
    """`value`, or None for a metric that the data do not define, such as the correlation of one pair, since JSON has no
    NaN."""
    return value if math.isfinite(value) else None


def shown_number(name: str, value: float, counts: Collection[str] = ()) -> str:
    """Return the metric `name` with four decimals. One of `counts`, or a whole number above 1, has none."""
    counted = name.rpartition("/")[2] in counts or abs(value) > 1
    return f"{value:,.0f}" if counted and value == int(value) else f"{value:.4f}"


def _print(result: dict[str, Any], counts: Collection[str], remarks: dict[str, str], typed: str) -> None:
    table = Table(title=f"{result['model']} on {result['data']}", show_header=False, title_justify="left")
    for name, value in result["metrics"].items():
        remark = remarks.get(name) or ("" if value is not None else "not defined on these data")
        number = "–" if value is None else shown_number(name, value, counts)
        table.add_row(name, number + (f" ({remark})" if remark else ""))
    for method, figures in result.get("baselines", {}).items():
        table.add_row(method, ", ".join(f"{name} {shown_number(name, value)}" for name, value in figures.items()))
    if result["score"] is not None:
        table.add_row(f"best {result['monitor']}", shown_number(result["monitor"], result["score"], counts))
    table.add_row("parameters", f"{result['parameters']:,}")
    if result["steps"]:
        epochs = "1 epoch" if result["epochs"] == 1 else f"{result['epochs']} epochs"
        table.add_row("training", f"{epochs}, {result['rate']['value']:,.0f} {result['rate']['unit']}")
    phases = ", ".join(f"{name} {seconds:.0f}" for name, seconds in result["phases"].items())
    table.add_row("threads", str(result["threads"]))
    table.add_row("wall time", f"{result['wall_seconds']:.0f} s: {phases}")
    table.add_row("data", result["source"])
    table.add_row("saved in", os.path.relpath(result["folder"]))
    # a pipe has no width: paths must not be broken there
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 160)
    console.print(table)
    if result["checkpoint"]:
        beside = "".join(f"--config-dir {os.path.relpath(folder)} " for folder in search_path.folders())
        command = f"zoo predict {beside}{os.path.relpath(result['checkpoint'])} {typed}"
        console.print(f"Try it: {command}", markup=False, highlight=False, soft_wrap=True)  # one line, to be copied


def git_commit() -> str | None:
    """The commit of the clone that the package runs from, with `+changes` if files differ; None outside a clone."""
    root = Path(zoo.__file__).parent.parent
    if not (root / ".git").exists():
        return None

    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+changes"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
