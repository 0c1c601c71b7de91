"""The learning rate as a series in every logger."""

from __future__ import annotations

from typing import Any

from lightning import Callback, LightningModule, Trainer


class LearningRate(Callback):
    """Logs `train/learning_rate`, the rate of the first group of parameters, as often as the loss of a step.

    With several optimisers there is one series for each: `train/learning_rate_1`, `train/learning_rate_2`, ...
    """

    def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int) -> None:
        for number, optimizer in enumerate(trainer.optimizers, 1):
            name = "train/learning_rate" + (f"_{number}" if len(trainer.optimizers) > 1 else "")
            pl_module.log(name, optimizer.param_groups[0]["lr"], on_step=True, on_epoch=False, batch_size=1)
