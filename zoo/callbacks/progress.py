"""Progress of the training: a bar on a terminal; elsewhere a line in the log after each epoch, and every minute. The
learning rate, the loss and the norm of the gradients by step in every logger."""

import logging
import shutil
import sys
import time
from collections.abc import Mapping
from math import isnan
from typing import Any

from lightning import Callback, Trainer
from lightning.pytorch.callbacks import RichProgressBar
from lightning.pytorch.callbacks.progress.rich_progress import BatchesProcessedColumn, CustomBarColumn, CustomTimeColumn
from rich.progress import TextColumn
from rich.table import Column

log = logging.getLogger(__name__)

EVERY = 60.0  # Seconds between two lines about an epoch that is not finished
BAR = 8
OTHERS = len("Validation 1000/1000 0:00:00 • 0:00:00   ") + BAR  # Columns of a line that are not of its metrics


class Progress(RichProgressBar):
    """Lightning's bar, never wider than the terminal: of the metrics the monitored one and what fits beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._reported_at = time.monotonic()
        if not sys.stdout.isatty():
            self.disable()

    def configure_columns(self, trainer: Trainer) -> list[Any]:
        theme = self.theme
        return [
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            CustomBarColumn(
                bar_width=BAR,
                complete_style=theme.progress_bar,
                finished_style=theme.progress_bar_finished,
                pulse_style=theme.progress_bar_pulse,
            ),
            BatchesProcessedColumn(style=theme.batch_progress),
            CustomTimeColumn(style=theme.time),
        ]

    def _init_progress(self, trainer: Trainer) -> None:
        super()._init_progress(trainer)
        if self._metric_component is not None:
            self._metric_component._table_column = Column(no_wrap=True, overflow="ellipsis")

    def get_metrics(self, trainer: Trainer, pl_module: Any) -> dict[str, int | str | float | dict[str, float]]:
        """The metrics that fit; the loggers have them all."""
        metrics, monitor = super().get_metrics(trainer, pl_module), getattr(pl_module, "monitor", None)
        metrics.pop("v_num", None)
        shown: dict[str, int | str | float | dict[str, float]] = {}
        room = shutil.get_terminal_size().columns - OTHERS
        for name in sorted(metrics, key=lambda name: name != monitor):
            room -= len(f"{name}: 00.000 ")
            if room >= 0:
                shown[name] = metrics[name]
        return shown

    def on_train_epoch_start(self, trainer: Trainer, pl_module: Any) -> None:
        super().on_train_epoch_start(trainer, pl_module)
        self._reported_at = time.monotonic()

    def on_train_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        super().on_train_batch_end(trainer, pl_module, outputs, batch, batch_idx)
        if self.is_disabled and trainer.is_global_zero and time.monotonic() - self._reported_at >= EVERY:
            self._reported_at = time.monotonic()
            batches, done = trainer.num_training_batches, batch_idx + 1
            share = f" of {batches:,} ({done / batches:.0%})" if batches != float("inf") else ""
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs  # a step need not return one
            known = "" if loss is None else f", loss {float(loss):.4g}"
            log.info("epoch %d: batch %s%s%s", trainer.current_epoch + 1, f"{done:,}", share, known)

    def on_train_epoch_end(self, trainer: Trainer, pl_module: Any) -> None:
        # On every rank, not on the first alone: the first reading after an epoch's last step adds up all ranks.
        metrics: dict[str, Any] = trainer.progress_bar_metrics
        super().on_train_epoch_end(trainer, pl_module)
        if self.is_disabled and trainer.is_global_zero:
            log.info("epoch %d, step %d: %s", trainer.current_epoch + 1, trainer.global_step, in_a_line(metrics))


class LearningRate(Callback):
    """Logs `train/learning_rate`, the rate of the first group of parameters, as often as the loss of a step.

    With several optimisers there is one series for each: `train/learning_rate_1`, `train/learning_rate_2`, ...
    """

    def on_train_batch_start(self, trainer: Trainer, pl_module: Any, batch: Any, batch_idx: int) -> None:
        for number, optimizer in enumerate(trainer.optimizers, 1):
            name = "train/learning_rate" + (f"_{number}" if len(trainer.optimizers) > 1 else "")
            pl_module.log(name, optimizer.param_groups[0]["lr"], on_step=True, on_epoch=False, batch_size=1)


class StepMetrics(Callback):
    """Logs `train/loss_step` and `train/gradient_norm` of every `trainer.log_every_n_steps`-th step.

    The loss is that of one batch, over all ranks; of several batches that `trainer.accumulate_grad_batches` combines it
    is that of the last one. The norm is that of all gradients before they are clipped. With several optimisers there is
    one series for each: `train/gradient_norm_1`, `train/gradient_norm_2`, ...
    """

    def on_train_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        if not trainer._logger_connector.should_update_logs:
            return  # each call of `log` costs time
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if loss is not None:  # a step may return None
            shares = trainer.accumulate_grad_batches if pl_module.automatic_optimization else 1
            loss = pl_module.step_loss(loss, batch) * shares
            pl_module.log("train/loss_step", loss, on_step=True, on_epoch=False, sync_dist=True, batch_size=1)
        for number, norm in pl_module.gradient_norms.items():
            name = "train/gradient_norm" + (f"_{number}" if len(trainer.optimizers) > 1 else "")
            pl_module.log(name, norm, on_step=True, on_epoch=False, batch_size=1)


def in_a_line(metrics: Mapping[str, Any]) -> str:
    """The metrics that the data define, in a line."""
    return ", ".join(f"{name} {value:.4g}" for name, value in metrics.items() if not isnan(value))
