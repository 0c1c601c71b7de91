"""The life of one run: seed, build, fit, test with the best checkpoint, report."""

from __future__ import annotations

import logging
import time
import warnings
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from lightning import seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint
from omegaconf import DictConfig

from zoo.errors import ConfigError
from zoo.run.allocator import keep_freed_memory
from zoo.run.build import Parts, build
from zoo.run.checkpoint import find_last, read_checkpoint
from zoo.run.report import report

log = logging.getLogger(__name__)


def train(cfg: DictConfig) -> float | None:
    """Trains and tests what `cfg` describes; the best validation score goes back to the sweeper."""
    quiet()
    if not cfg.train and not (cfg.test and cfg.ckpt_path):
        raise ConfigError(
            "train=false evaluates what was trained before: give ckpt_path=PATH or ckpt_path=last, and test=true"
        )
    if cfg.start_from and cfg.ckpt_path:
        raise ConfigError(
            "start_from begins a new run from a checkpoint's weights, ckpt_path goes on with a run: give one of them"
        )
    keep_freed_memory()
    seed_everything(cfg.seed, workers=True, verbose=False)
    parts = build(cfg)
    task, data, trainer = parts.task, parts.data, parts.trainer
    checkpoint = _checkpoint(cfg.ckpt_path)
    if cfg.start_from:
        task.start = read_checkpoint(cfg.start_from)
    started = time.perf_counter()
    if cfg.train:
        trainer.fit(task, datamodule=data, ckpt_path=checkpoint, weights_only=True)
        checkpoint = _best(parts)
    score = _score(parts)
    metrics = {}
    if cfg.test:
        trainer.test(task, datamodule=data, ckpt_path=checkpoint, verbose=False, weights_only=True)
        metrics = {name: value.item() for name, value in trainer.callback_metrics.items() if name.startswith("test/")}
    report(cfg, parts, metrics=metrics, score=score, seconds=time.perf_counter() - started, checkpoint=checkpoint)
    return score


def _checkpoint(path: str | None) -> str | None:
    """The checkpoint to start from, read once so that a bad file is named before anything is built."""
    if path is None:
        return None
    own_run = Path(HydraConfig.get().runtime.output_dir)
    if path == "last":
        choices = HydraConfig.get().runtime.choices
        path = str(find_last(Path("logs") / f"{choices['model']}_{choices['data']}", own_run))
        log.info("ckpt_path=last: continuing from %s", path)
    read_checkpoint(path)
    return str(Path(path).resolve())


def _best(parts: Parts) -> str | None:
    callback = parts.trainer.checkpoint_callback
    path = callback.best_model_path if isinstance(callback, ModelCheckpoint) else ""
    return path or None  # fast_dev_run saves none: the last weights are tested then


def _score(parts: Parts) -> float | None:
    callback = parts.trainer.checkpoint_callback
    if isinstance(callback, ModelCheckpoint) and callback.best_model_score is not None:
        return float(callback.best_model_score)
    value = parts.trainer.callback_metrics.get(parts.task.monitor)
    return None if value is None else float(value)


def quiet() -> None:
    """Hides library lines that ask nothing of the reader."""
    for name in ("utilities.rank_zero", "accelerators.cuda", "trainer.connectors.checkpoint_connector"):
        logging.getLogger(f"lightning.pytorch.{name}").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", ".*does not have many workers.*")
    warnings.filterwarnings(
        "ignore", ".*dataloader is not resumable.*"
    )  # the batch sampler resumes: zoo/data/bucketing.py
    for folder in ("Experiment logs", "Checkpoint"):  # the run folder itself
        warnings.filterwarnings("ignore", f".*{folder} directory .* exists and is not empty.*")
    warnings.filterwarnings(
        "ignore", ".*WeightAveraging.*configure_model"
    )  # it warns of sharded weights, there are none
    warnings.filterwarnings("ignore", ".*smaller than the logging interval.*")
    warnings.filterwarnings("ignore", ".*isinstance.treespec, LeafSpec.*")  # Lightning's own use of torch
