"""Checkpoints: the best by the monitored metric, the last for resuming, and a clean end on SIGTERM."""

from __future__ import annotations

import logging
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

from lightning import LightningModule, Trainer
from lightning.pytorch.callbacks import Checkpoint, ModelCheckpoint

from zoo.errors import ZooError

log = logging.getLogger(__name__)


class Interrupted(ZooError):
    """The run was asked to end (SIGTERM) and has saved its state."""

    exit_code = 128 + signal.SIGTERM


def checkpoint_folder(trainer: Trainer) -> Path:
    """Where a run keeps its checkpoints."""
    return Path(trainer.default_root_dir) / "checkpoints"


class BestCheckpoint(ModelCheckpoint):
    """`checkpoints/best.ckpt`: the weights with the best `monitor` so far, also across a resume in another run
    folder."""

    def __init__(self, monitor: str, mode: str) -> None:
        super().__init__(
            monitor=monitor, mode=mode, filename="best", auto_insert_metric_name=False, enable_version_counter=False
        )

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self.dirpath = str(checkpoint_folder(trainer))
        super().setup(trainer, pl_module, stage)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over the best score and copies its file: Lightning forgets both when the folder changes."""
        assert self.dirpath is not None
        previous, here = Path(state_dict["best_model_path"]), Path(self.dirpath) / "best.ckpt"
        if state_dict["best_model_score"] is None or not (previous.is_file() or here.is_file()):
            return
        if previous != here and not here.exists():
            here.parent.mkdir(parents=True, exist_ok=True)
            temporary = here.with_name(f".{here.name}.tmp")
            shutil.copyfile(previous, temporary)
            temporary.replace(here)
        score = state_dict["best_model_score"]
        self.best_model_score = self.current_score = self.kth_value = score
        self.best_model_path = self.kth_best_model_path = str(here)
        self.best_k_models = {str(here): score}


class LastCheckpoint(Checkpoint):
    """`checkpoints/last.ckpt`, written at the end of each epoch, every so many optimiser steps or minutes, and on
    SIGTERM.

    Only between optimiser steps, so that no half-accumulated gradient is lost. A SIGTERM during validation is answered
    when the validation has ended.
    """

    def __init__(self, every_n_steps: int | None = None, every_n_minutes: float | None = None) -> None:
        if every_n_steps is not None and every_n_steps < 1:
            raise ValueError(f"every_n_steps counts optimiser steps, at least 1; got {every_n_steps}")
        self.every_n_steps, self.every_n_minutes = every_n_steps, every_n_minutes
        self._step, self._saved_at, self._asked_to_stop = 0, time.monotonic(), False
        self._previous_handler: Any = None

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._step, self._saved_at = trainer.global_step, time.monotonic()
        if threading.current_thread() is threading.main_thread():
            # Lightning's own handler raises out of the middle of an epoch on one rank, without saving
            self._previous_handler = signal.signal(signal.SIGTERM, self._ask_to_stop)

    def _ask_to_stop(self, signal_number: int, frame: Any) -> None:
        self._asked_to_stop = True

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if trainer.global_step == self._step:
            return  # in the middle of an accumulated step
        self._step = trainer.global_step
        if trainer.is_last_batch:
            return  # about to validate and save at the end of the epoch
        minutes = (time.monotonic() - self._saved_at) / 60
        due = self.every_n_steps is not None and self._step % self.every_n_steps == 0
        due |= self.every_n_minutes is not None and minutes >= self.every_n_minutes
        stop = self._agreed(trainer, self._asked_to_stop)
        if stop or self._agreed(trainer, due):
            self._save(trainer)
        if stop:
            self._stop(trainer)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._save(trainer)
        if self._agreed(trainer, self._asked_to_stop):
            self._stop(trainer)

    @staticmethod
    def _agreed(trainer: Trainer, wish: bool) -> bool:
        """Whether any rank wishes it: saving is collective, so all ranks must decide alike."""
        return trainer.strategy.reduce_boolean_decision(wish, all=False) if trainer.world_size > 1 else wish

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._restore_handler()

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        self._restore_handler()

    def _restore_handler(self) -> None:
        if self._previous_handler is not None:
            signal.signal(signal.SIGTERM, self._previous_handler)
            self._previous_handler = None

    def _save(self, trainer: Trainer) -> None:
        if not trainer.fast_dev_run:  # type: ignore[attr-defined]
            trainer.save_checkpoint(checkpoint_folder(trainer) / "last.ckpt")
        self._saved_at = time.monotonic()

    def _stop(self, trainer: Trainer) -> None:
        path = checkpoint_folder(trainer) / "last.ckpt"
        raise Interrupted(
            f"asked to end (SIGTERM) at step {trainer.global_step}: saved {path}. "
            f"Resume by the same command with ckpt_path=last, or ckpt_path='{path}'"
        )
