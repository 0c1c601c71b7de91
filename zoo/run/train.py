"""The life of one run: seed, build, fit, test with the best checkpoint, report."""

import logging
import sys
import warnings
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from lightning import seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint
from omegaconf import DictConfig

from zoo.callbacks.checkpoint import checkpoint_folder, first_rank
from zoo.callbacks.throughput import DATA
from zoo.data.batch import Encoder
from zoo.data.stored import hide_bars_in_files
from zoo.dotted import class_at
from zoo.errors import CheckpointError, ConfigError
from zoo.run.build import Parts, build
from zoo.run.check import check
from zoo.run.checkpoint import check_resumable, read_checkpoint
from zoo.run.compose import override
from zoo.run.folder import find_last, remove_leftovers
from zoo.run.machine import Stopwatch, check_machine, keep_freed_memory, threads_of
from zoo.run.report import report
from zoo.run.start import adopt_text, continues_text
from zoo.run.weights import locate

log = logging.getLogger(__name__)


def train(cfg: DictConfig) -> float | None:
    """Train and test what `cfg` describes. Returns the best validation score, for a sweeper."""
    begun = Stopwatch()
    quiet()
    _check_starts(cfg)
    start = _start(cfg)
    check(cfg)
    check_machine(cfg)
    with threads_of(cfg):
        return _run(cfg, begun, start)


def _run(cfg: DictConfig, begun: Stopwatch, start: dict[str, Any] | None) -> float | None:
    checkpoint = _checkpoint(cfg)
    keep_freed_memory()
    seed_everything(cfg.seed, workers=True, verbose=False)
    parts = build(cfg)
    if first_rank() and parts.trainer.default_root_dir:
        remove_leftovers(checkpoint_folder(parts.trainer))
    task, data, trainer = parts.task, parts.data, parts.trainer
    task.start, task.restored = start, checkpoint is not None
    if start is not None and continues_text(HydraConfig.get().overrides.task):
        about = start["zoo"]
        data.begin_with(class_at(about["encoder_class"], Encoder).from_state(about["encoder"]))
    metrics: dict[str, float] = {}
    if cfg.train:
        parts.phase(DATA)
        trainer.fit(task, datamodule=data, ckpt_path=checkpoint, weights_only=True)
        checkpoint = _trained(parts)
        if trainer.overfit_batches:  # type: ignore[attr-defined]
            metrics |= _learned_by_heart(parts)
    score = _score(parts)
    if cfg.test:
        parts.phase(DATA)
        trainer.test(task, datamodule=data, ckpt_path=checkpoint, verbose=False, weights_only=True)
        metrics |= {name: value.item() for name, value in trainer.callback_metrics.items() if name.startswith("test/")}
    report(cfg, parts, metrics=metrics, score=score, spent=begun.phases(parts.throughput), checkpoint=checkpoint)
    return score


def _check_starts(cfg: DictConfig) -> None:
    if not cfg.train and not (cfg.test and cfg.ckpt_path):
        raise ConfigError(
            "train=false evaluates an earlier training: set ckpt_path=PATH or ckpt_path=last, and test=true"
        )
    if cfg.start_from and cfg.ckpt_path:
        raise ConfigError(
            "start_from begins a new run from a checkpoint's weights, ckpt_path continues a run: set one of them"
        )


def _checkpoint(cfg: DictConfig) -> str | None:
    """The checkpoint to start from. It is read here, so that a bad file is named before anything is prepared."""
    if cfg.ckpt_path is None:
        return None
    if cfg.ckpt_path == "last":
        path = _last()
        log.info("ckpt_path=last: continuing from %s", path)
        sys.argv.append(override("ckpt_path", str(path)))  # other ranks must not search for another one
    else:
        path = locate(cfg.ckpt_path, prefer="last" if cfg.train else "best")
    content = read_checkpoint(path)
    if first_rank():
        remove_leftovers(path.parent)
    _check_network(cfg, "ckpt_path", path, content)
    if cfg.train:
        check_resumable(content, path)
    return str(path.resolve())


def _last() -> Path:
    job = HydraConfig.get()
    choices, own_run = job.runtime.choices, Path(job.runtime.output_dir)
    return find_last(choices["model"], choices["data"], own_run, job.overrides.task)


def _start(cfg: DictConfig) -> dict[str, Any] | None:
    if cfg.start_from is None:
        return None
    path = locate(_last().parent.parent if cfg.start_from == "last" else cfg.start_from)
    content = read_checkpoint(path)
    _check_network(cfg, "start_from", path, content)
    adopt_text(cfg, content, HydraConfig.get().overrides.task)
    return content


def _check_network(cfg: DictConfig, key: str, path: Path, content: dict[str, Any]) -> None:
    there = content.get("hyper_parameters", {}).get("model", {}).get("_target_", cfg.model._target_)
    if there != cfg.model._target_:
        raise CheckpointError(
            f"{key}: {path} holds the weights of another network, {there}, and this run's is {cfg.model._target_}; "
            "choose the model= of the run that wrote it"
        )


def _trained(parts: Parts) -> str | None:
    """The best checkpoint of a run, or the last one where nothing was validated or no best one is chosen. None where no
    checkpoint was written, so that the weights in memory are tested."""
    callback, last = parts.trainer.checkpoint_callback, checkpoint_folder(parts.trainer) / "last.ckpt"
    if isinstance(callback, ModelCheckpoint) and callback.best_model_path:
        return callback.best_model_path
    if parts.trainer.fast_dev_run or not last.is_file():  # type: ignore[attr-defined]
        return None
    why = "nothing was validated, so that there are no best weights" if callback else "no best weights are chosen"
    log.info("%s: the last ones are stored and tested, %s", why, last)
    return str(last)


def _learned_by_heart(parts: Parts) -> dict[str, float]:
    """Return the metrics of the batches that overfit_batches trained on, named train/."""
    trainer = parts.trainer
    callbacks, loggers = trainer.callbacks, trainer.loggers  # type: ignore[attr-defined]
    trainer.callbacks, trainer.loggers = [], []  # type: ignore[attr-defined]
    try:
        (metrics,) = trainer.validate(parts.task, dataloaders=parts.data.train_dataloader(), verbose=False)
    finally:
        trainer.callbacks, trainer.loggers = callbacks, loggers  # type: ignore[attr-defined]
    return {name.replace("val/", "train/"): value for name, value in metrics.items()}


def _score(parts: Parts) -> float | None:
    callback = parts.trainer.checkpoint_callback
    if isinstance(callback, ModelCheckpoint) and callback.best_model_score is not None:
        return float(callback.best_model_score)
    value = parts.trainer.callback_metrics.get(parts.task.monitor)
    return None if value is None else float(value)


def quiet() -> None:
    """Hide lines of libraries that need no action, output of the other ranks, and bars outside a terminal."""
    for name in ("utilities.rank_zero", "accelerators.cuda", "trainer.connectors.checkpoint_connector"):
        logging.getLogger(f"lightning.pytorch.{name}").setLevel(logging.WARNING)
    for message in (
        "does not have many workers",
        "dataloader is not resumable",  # the batch sampler resumes: zoo/data/order.py
        "Experiment logs directory .* exists and is not empty",  # the run folder itself
        "Checkpoint directory .* exists and is not empty",
        "WeightAveraging.*configure_model",  # it warns of sharded weights, there are none
        "smaller than the logging interval",
        "could not find the monitored key",  # one line appears where nothing is validated
        "in eval mode at the start of training",  # pretrained parts stay in evaluation
        "isinstance.treespec, LeafSpec",  # Lightning's own use of torch
        "It is recommended to use .self.log.*sync_dist=True",  # metric objects add up their ranks by themselves
    ):
        warnings.filterwarnings("ignore", f".*{message}")
    if not first_rank():
        for handler in logging.root.handlers:
            if not isinstance(handler, logging.FileHandler):
                handler.setLevel(logging.ERROR)
        warnings.filterwarnings("ignore")
    logging.getLogger("lightning.fabric.utilities.distributed").setLevel(logging.WARNING)
    hide_bars_in_files()
