"""Builds the parts of a run from a checked configuration, without touching the disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hydra.utils import instantiate
from lightning import Callback, Trainer
from lightning.pytorch.loggers import WandbLogger
from omegaconf import DictConfig, OmegaConf

from zoo.callbacks import Progress, Throughput
from zoo.data.serving import ServedData
from zoo.dotted import class_at
from zoo.run.arguments import make
from zoo.run.checkpoint import AtomicCheckpointIO
from zoo.run.compose import plain
from zoo.run.precision import whole_precision
from zoo.tasks import Task


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
        logger.log_hyperparams(plain(_without_hydra(cfg)))
    return Parts(task, data, trainer)


def _made(cfg: DictConfig, group: str) -> list[Any]:
    """Build the parts of a group that holds several by name."""
    return [make(node, f"{group}.{name}") for name, node in (cfg[group] or {}).items() if node is not None]


def _without_hydra(cfg: DictConfig) -> DictConfig:
    return OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])
