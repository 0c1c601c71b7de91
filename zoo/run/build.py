"""Builds the parts of a run from a checked configuration, without touching the disk; among them precisions that the
weights themselves have (`trainer.precision=bf16-true`, `64-true`)."""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from hydra.utils import instantiate
from lightning import Callback, Trainer
from lightning.pytorch.loggers import WandbLogger
from lightning.pytorch.plugins import Precision
from omegaconf import DictConfig, OmegaConf
from torch import nn

from zoo.callbacks import Progress, Throughput
from zoo.data.batch import Batch
from zoo.data.serving import ServedData
from zoo.dotted import class_at
from zoo.errors import ConfigError
from zoo.run.arguments import make
from zoo.run.checkpoint import read_language_model
from zoo.run.checkpoint_io import AtomicCheckpointIO
from zoo.run.compose import plain
from zoo.tasks import Task

Whole = Literal["bf16-true", "64-true"]
DTYPES: dict[Whole, torch.dtype] = {"bf16-true": torch.bfloat16, "64-true": torch.float64}


@dataclass(frozen=True)
class Parts:
    """The parts of one run."""

    task: Task
    data: ServedData[Any]
    trainer: Trainer

    @property
    def throughput(self) -> Throughput | None:
        """The callback that counts the time by phase."""
        callbacks: list[Callback] = self.trainer.callbacks  # type: ignore[attr-defined]
        return next((callback for callback in callbacks if isinstance(callback, Throughput)), None)

    def phase(self, name: str) -> None:
        """From now on, count the time as phase `name`."""
        if self.throughput is not None:
            self.throughput.enter(name)


def build(cfg: DictConfig) -> Parts:
    """Build the data module, the task and the trainer of a configuration that `check` has passed."""
    whole = whole_precision(cfg.trainer.get("precision"))
    data: ServedData[Any] = instantiate(cfg.data, _convert_="all")
    groups = class_at(cfg.task._target_, Task).groups
    task: Task = instantiate(
        plain(cfg.task) | {"_recursive_": False},
        model=plain(cfg.model),
        optimizer=plain(cfg.optimizer),
        scheduler=plain(cfg.scheduler) or None,
        compile=cfg.compile,
        **{group: plain(cfg[group]) for group in groups if cfg.get(group)},
        _convert_="all",
    )
    read_language_model(task, plain(cfg.get("decoding") or {}))
    bar = [Progress()] if cfg.trainer.enable_progress_bar is not False else []
    trainer: Trainer = make(
        cfg.trainer,
        "trainer",
        **({"precision": None} if whole else {}),
        callbacks=[*_made(cfg, "callbacks"), *bar],
        logger=_made(cfg, "logger"),
        plugins=[AtomicCheckpointIO(), *([whole] if whole else [])],
    )
    for logger in trainer.loggers:
        if isinstance(logger, WandbLogger):
            logger._wandb_init.pop("anonymous", None)  # wandb warns of this argument, which Lightning always passes
        logger.log_hyperparams(plain(OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])))
    return Parts(task, data, trainer)


def _made(cfg: DictConfig, group: str) -> list[Any]:
    return [make(node, f"{group}.{name}") for name, node in (cfg[group] or {}).items() if node is not None]


class WholePrecision(Precision):
    """Converts the network's weights and the floats of a batch to one dtype.

    Lightning's own plugins write into the fields of a batch, which are frozen here. They also let the metrics count in
    bfloat16, where 256 + 1 is 256. The network is built in float32 and converted, so that it starts as in other runs.
    """

    def __init__(self, precision: Whole) -> None:
        self.precision, self.dtype = precision, DTYPES[precision]

    def convert_module(self, module: Any) -> nn.Module:
        for part in module.weights():
            part.to(self.dtype)
        return module

    def convert_input(self, data: Any) -> Any:
        return data.cast(self.dtype) if isinstance(data, Batch) else data


def whole_precision(precision: Any) -> WholePrecision | None:
    """The plugin for a `trainer.precision`, or None for Lightning's own. Raises ConfigError for 16-true."""
    if precision == "16-true":
        raise ConfigError(
            "trainer.precision=16-true: in float16 Adam's eps of 1e-8 becomes 0, and training fails; use bf16-true, or "
            "16-mixed on a GPU"
        )
    if precision == "bf16-true":
        return WholePrecision("bf16-true")
    return WholePrecision("64-true") if str(precision) in ("64-true", "64") else None
