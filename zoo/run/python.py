"""`zoo.load_data` and `zoo.train`: the data and the trainings of the command line for Python code.

A keyword argument is an override: `source="hub"` for data, `**{"optimizer.lr": 3e-4}` for a training. It is
checked like one of the command line, and a wrong one raises a ZooError with the same line.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.utils import instantiate
from omegaconf import DictConfig

from zoo.data.stored import hide_bars_in_files
from zoo.errors import ConfigError, ZooError
from zoo.run import search_path
from zoo.run.arguments import check_arguments
from zoo.run.catalogue import conf_dir, datasets
from zoo.run.compose import command_line_first, compose, register
from zoo.run.folder import remove_run
from zoo.run.messages import explained
from zoo.run.overrides import below, check_name, words

if TYPE_CHECKING:
    from zoo.data.serving import ServedData
    from zoo.run.checkpoint import Predictor


def load_data(name: str, /, **overrides: Any) -> ServedData[Any]:
    """Prepare a data set, or find it prepared, and return its data module.

    It has `spec`, `encoder`, `train_dataloader()`, `val_dataloader()`, `test_dataloader()` and `describe()`.

    Args:
        name: as in `data=NAME`; `zoo.list_data()` has them all.
        overrides: keys below `data`, such as `path="my.csv"`, `sample={"train": 100}` or `**{"loader.batch_size": 8}`.

    Raises:
        ConfigError: an unknown name or key, or a value of the wrong type.
        DataError: files that cannot be read.
    """
    check_name(name, list(datasets()), "data")
    asked = [f"data={name}", *below("data", overrides)]
    with explained(asked):
        cfg = compose(asked)
        check_arguments(cfg.data, "data")
        hide_bars_in_files()
        data: ServedData[Any] = instantiate(cfg.data, _convert_="all")
        data.prepare_data()
        data.setup("fit")
    return data


@dataclass(frozen=True)
class Result:
    """The result of a training."""

    metrics: dict[str, float]
    """The metrics of the test, such as `test/accuracy`."""
    folder: Path
    """The folder of the run, with its checkpoints, pictures and result.json."""
    about: dict[str, Any] = field(repr=False)
    """The content of result.json."""

    @classmethod
    def of(cls, folder: Path) -> Result:
        """Read the result of a run."""
        about = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return cls(about["metrics"], folder, about)

    @property
    def predictor(self) -> Predictor:
        """The trained network with the encoder of its inputs: `result.predictor(["some text"])`."""
        from zoo.run.checkpoint import load

        return load(self.about["checkpoint"] or self.folder)


def train(model: str | None = None, data: str | None = None, **overrides: Any) -> Result:
    """Train and test a network in this process, as `python train.py` does.

    Args:
        model: as in `model=NAME`; by default that of the experiment, or han.
        data: as in `data=NAME`; by default those of the experiment, or yelp.
        overrides: any other key of the configuration, such as `seed=2`, `optimizer="adamw"`,
            `trainer={"max_epochs": 3}` or `**{"optimizer.lr": 3e-4}`.

    Raises:
        ConfigError: an unknown name or key, a value out of its range, or several devices: they need a program that can
            be started again for each.
    """
    chosen = {key: value for key, value in (("model", model), ("data", data)) if value is not None}
    asked = list(words(chosen | overrides))
    ended: list[Path | Exception] = []

    def job(cfg: DictConfig) -> None:
        try:
            ended.append(_run(cfg))
        except Exception as error:  # Hydra would print its own message
            ended.append(error)

    with explained(asked), command_line_first(), _logging_restored(), warnings.catch_warnings():
        register()
        with initialize_config_dir(version_base="1.3", config_dir=str(conf_dir()), job_name="train"):
            hydra = GlobalHydra.instance().hydra
            assert hydra is not None
            hydra.run("train", job, [*search_path.overrides(), *asked])
        if isinstance(ended[0], Exception):
            raise ended[0]
    return Result.of(ended[0])


def _run(cfg: DictConfig) -> Path:
    """Run a job, and return the folder of the run."""
    from zoo.run.launch import one_job
    from zoo.run.train import train as run

    folder = Path(HydraConfig.get().runtime.output_dir)
    try:
        _check_one_process(cfg)
        with one_job():
            run(cfg)
    except ZooError:
        remove_run(folder)  # only if the run has not written anything yet
        raise
    return folder


def _check_one_process(cfg: DictConfig) -> None:
    if (devices := cfg.trainer.devices) not in (1, "1") and "WORLD_SIZE" not in os.environ:
        raise ConfigError(
            f"trainer.devices={devices}: zoo.train runs in this process alone; for several devices use "
            "`python train.py` or torchrun"
        )


@contextmanager
def _logging_restored() -> Iterator[None]:
    """Give the program its own logging back, which Hydra replaces for a job."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        yield
    finally:
        for handler in root.handlers:
            if handler not in before[0]:
                handler.close()
        root.handlers[:], level = before
        root.setLevel(level)
