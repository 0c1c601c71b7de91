"""Checkpoints: the best by the monitored metric (in wandb, too), the last for resuming, and a clean end on SIGTERM and
Ctrl-C."""

import logging
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, Literal

from lightning import Trainer
from lightning.pytorch.callbacks import Callback, Checkpoint, ModelCheckpoint
from lightning.pytorch.loggers import WandbLogger
from lightning.pytorch.trainer.states import TrainerFn
from lightning.pytorch.utilities import rank_zero_only

from zoo.arguments import Count, Positive
from zoo.errors import ConfigError, Interrupted, did_you_mean
from zoo.values import Checked

log = logging.getLogger(__name__)


NAMES = {signal.SIGTERM: "SIGTERM", signal.SIGINT: "Ctrl-C"}  # The signals that ask a run to save and end


def first_rank() -> bool:
    """Whether this process prints for all ranks, in a run or before it."""
    return rank_zero_only.rank == 0  # type: ignore[attr-defined]


def checkpoint_folder(trainer: Trainer) -> Path:
    """Where a run keeps its checkpoints."""
    return Path(trainer.default_root_dir) / "checkpoints"


class BestCheckpoint(ModelCheckpoint):
    """`checkpoints/best.ckpt`: the weights with the best `monitor` so far, also across a resume in another run
    folder."""

    def __init__(self, monitor: str, mode: Literal["min", "max"]) -> None:
        super().__init__(
            monitor=monitor, mode=mode, filename="best", auto_insert_metric_name=False, enable_version_counter=False
        )

    def setup(self, trainer: Trainer, pl_module: Any, stage: str) -> None:
        self.dirpath = str(checkpoint_folder(trainer))
        super().setup(trainer, pl_module, stage)

    def on_validation_end(self, trainer: Trainer, pl_module: Any) -> None:
        if self.monitor not in trainer.callback_metrics:  # known before training if the run starts with a validation
            found = [name for name in trainer.callback_metrics if name.startswith("val/")]
            raise ConfigError(
                f"task.monitor={self.monitor}: the validation of these data has no such metric; "
                f"{did_you_mean(self.monitor, found)}"
            )
        super().on_validation_end(trainer, pl_module)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over the best score and copies its file: Lightning forgets both when the folder changes."""
        assert self.dirpath is not None
        previous, here = Path(state_dict["best_model_path"]), Path(self.dirpath) / "best.ckpt"
        if state_dict["best_model_score"] is None or not (previous.is_file() or here.is_file()):
            return
        if previous != here and not here.exists():
            here.parent.mkdir(parents=True, exist_ok=True)
            temporary = here.with_name(f".{here.name}.{os.getpid()}.tmp")  # every rank copies
            shutil.copyfile(previous, temporary)
            temporary.replace(here)
        score = state_dict["best_model_score"]
        self.best_model_score = self.current_score = self.kth_value = score
        self.best_model_path = self.kth_best_model_path = str(here)
        self.best_k_models = {str(here): score}


class BestCheckpointArtifact(Callback):
    """Keeps the best checkpoint as the artifact `model-<run id>` of each wandb run when the training has ended.

    `WandbLogger(log_model=True)` refuses to work offline.
    """

    def on_fit_end(self, trainer: Trainer, pl_module: Any) -> None:
        loggers = [logger for logger in trainer.loggers if isinstance(logger, WandbLogger)]
        checkpoint = trainer.checkpoint_callback
        if not trainer.is_global_zero or not loggers or not isinstance(checkpoint, ModelCheckpoint):
            return
        path = Path(checkpoint.best_model_path)
        if not path.is_file():  # nothing was saved, as under fast_dev_run
            return
        import wandb

        score = checkpoint.best_model_score
        metadata = {"monitor": checkpoint.monitor, "score": None if score is None else float(score)}
        for logger in loggers:
            artifact = wandb.Artifact(f"model-{logger.experiment.id}", type="model", metadata=metadata)
            artifact.add_file(str(path), name=path.name)
            logger.experiment.log_artifact(artifact, aliases=["best"])


class FinalValidation(Callback):
    """Validates after the last step of a run, wherever in an epoch it falls: the last weights may be the best."""

    def on_train_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        last_epoch = trainer.current_epoch + 1 == trainer.max_epochs
        if (trainer.is_last_batch and last_epoch) or 0 < trainer.max_steps <= trainer.global_step:
            trainer.check_val_every_n_epoch = 1
            trainer.should_stop = True  # a loop that has to stop validates first


class LastCheckpoint(Checkpoint, Checked):
    """`checkpoints/last.ckpt`, written at the end of each epoch, every so many optimiser steps or minutes, and on
    SIGTERM and Ctrl-C.

    It is written only between optimiser steps, so that no partly accumulated gradient is lost. A step with a validation
    is saved after it, since a resumed run does not repeat it. A signal during a validation takes effect at its end. A
    second Ctrl-C ends the run at once.
    """

    def __init__(self, every_n_steps: Count | None = None, every_n_minutes: Positive | None = None) -> None:
        self.every_n_steps, self.every_n_minutes = every_n_steps, every_n_minutes
        self._step, self._saved_at, self._due = 0, time.monotonic(), False
        self._asked_by: signal.Signals | None = None
        self._previous_handlers: dict[signal.Signals, Any] = {}

    def on_train_start(self, trainer: Trainer, pl_module: Any) -> None:
        self._step, self._saved_at = trainer.global_step, time.monotonic()
        if threading.current_thread() is threading.main_thread():
            # Lightning's own handlers raise out of the middle of an epoch on one rank, without saving
            self._previous_handlers = {asked: signal.signal(asked, self._ask_to_stop) for asked in NAMES}

    def _ask_to_stop(self, number: int, frame: Any) -> None:
        self._asked_by = signal.Signals(number)
        if number == signal.SIGINT:
            signal.signal(number, self._previous_handlers[self._asked_by])
        if number == signal.SIGINT and first_rank():
            print("\nCtrl-C: saving after this step; press it again to stop at once", file=sys.stderr, flush=True)

    def on_train_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        if trainer.global_step == self._step:
            return  # in the middle of an accumulated step
        self._step = trainer.global_step
        if trainer.is_last_batch:
            return  # about to validate and save at the end of the epoch
        minutes = (time.monotonic() - self._saved_at) / 60
        self._due |= self.every_n_steps is not None and self._step % self.every_n_steps == 0
        self._due |= self.every_n_minutes is not None and minutes >= self.every_n_minutes
        loop = trainer.fit_loop
        assert loop._data_fetcher is not None
        if not loop.epoch_loop._should_check_val_fx(loop._data_fetcher):
            self._save_where_asked(trainer)

    def on_validation_end(self, trainer: Trainer, pl_module: Any) -> None:
        if trainer.state.fn == TrainerFn.FITTING and not trainer.sanity_checking and not trainer.is_last_batch:
            self._save_where_asked(trainer)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: Any) -> None:
        self._save(trainer)
        self._stop_where_asked(trainer)

    def _save_where_asked(self, trainer: Trainer) -> None:
        if self._agreed(trainer, self._due or self._asked_by is not None):
            self._save(trainer)
            self._stop_where_asked(trainer)

    @staticmethod
    def _agreed(trainer: Trainer, wish: bool) -> bool:
        """Whether any rank has the wish. Saving is collective, so that all ranks have to agree."""
        return trainer.strategy.reduce_boolean_decision(wish, all=False) if trainer.world_size > 1 else wish

    def on_train_end(self, trainer: Trainer, pl_module: Any) -> None:
        self._restore_handlers()

    def on_exception(self, trainer: Trainer, pl_module: Any, exception: BaseException) -> None:
        self._restore_handlers()

    def _restore_handlers(self) -> None:
        for asked, handler in self._previous_handlers.items():
            signal.signal(asked, handler)
        self._previous_handlers = {}

    def _save(self, trainer: Trainer) -> None:
        if not trainer.fast_dev_run:  # type: ignore[attr-defined]
            trainer.save_checkpoint(checkpoint_folder(trainer) / "last.ckpt")
        self._saved_at, self._due = time.monotonic(), False

    def _stop_where_asked(self, trainer: Trainer) -> None:
        if not self._agreed(trainer, self._asked_by is not None):
            return
        path = os.path.relpath(checkpoint_folder(trainer) / "last.ckpt")
        asked_by = self._asked_by or signal.SIGTERM
        raise Interrupted(
            f"asked to end ({NAMES[asked_by]}) at step {trainer.global_step}: saved {path}. "
            f"Resume by the same command with ckpt_path=last, or ckpt_path='{path}'",
            asked_by,
        )
