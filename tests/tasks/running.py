"""Running a task in a test: a trainer that prints and stores nothing, and the figures that a task logs."""

from pathlib import Path
from typing import Any

import pytest
import torch
from lightning import Trainer
from torch.utils.data import DataLoader

from zoo.tasks import Task


def trainer(folder: Path | None = None, **options: Any) -> Trainer:
    quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    return Trainer(**{"accelerator": "cpu", "default_root_dir": folder, **quiet, **options})


def loader(*batches: Any) -> DataLoader[Any]:
    return DataLoader(list(batches), batch_size=None)


def figures(task: Any, patch: pytest.MonkeyPatch, *batches: Any, stage: str = "test") -> dict[str, float]:
    """The metrics that the task logs for these batches, by their names without the stage."""
    found, step = logged(task, patch), task.test_step if stage == "test" else task.validation_step
    with torch.no_grad():
        for number, batch in enumerate(batches):
            step(batch, number)
    return {name.removeprefix(f"{stage}/"): metric.compute().item() for name, metric in found.items()}


def logged(task: Task, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The figures and metrics that the task logs from now on, by name."""
    found: dict[str, Any] = {}
    patch.setattr(task, "log", lambda name, value, **options: found.update({name: value}))
    return found
