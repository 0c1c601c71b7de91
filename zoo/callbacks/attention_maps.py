"""Pictures of attention, on the same examples each time."""

from __future__ import annotations

import time
from typing import Any

from lightning import Callback, LightningModule, Trainer

from zoo.arguments import Natural, Positive
from zoo.callbacks.examples import FirstExamples
from zoo.callbacks.pictures import keep_picture
from zoo.tasks import Task
from zoo.visualize.view import view_of


class AttentionMaps(Callback):
    """Draws the first `count` examples of the validation set every `every_n_minutes` minutes, after the validation
    that comes then, and at the end of the training; and those of the test set.

    The pictures are `attention/val_epoch03_1.png`, `attention/test_1.png`, ... in the run folder, and
    `val/attention_1`, `test/attention_1`, ... in wandb and TensorBoard; a view may have another name for what it
    shows (`View.shows`). Later pictures of an epoch replace the files of earlier ones.
    """

    def __init__(self, count: Natural = 4, every_n_minutes: Positive = 5.0) -> None:
        if count < 0 or not every_n_minutes > 0:
            raise ValueError(f"count is at least 0 and every_n_minutes above 0; got {count} and {every_n_minutes}")
        self.count, self.every_n_minutes = count, every_n_minutes
        self._examples: dict[str, FirstExamples] = {}
        self._epoch, self._drawn_at, self._drawn_step = 0, 0.0, -1

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self._examples = {"val": FirstExamples(self.count), "test": FirstExamples(self.count)}
        self._drawn_at, self._drawn_step = time.monotonic(), -1

    def on_train_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._epoch = trainer.current_epoch  # at the end of the training, `current_epoch` is the next one

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        if not trainer.sanity_checking:
            self._keep(trainer, pl_module, "val", batch, dataloader_idx)

    def on_test_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        self._keep(trainer, pl_module, "test", batch, dataloader_idx)

    def _keep(self, trainer: Trainer, task: LightningModule, stage: str, batch: Any, dataloader_idx: int) -> None:
        if trainer.is_global_zero and dataloader_idx == 0:
            assert isinstance(task, Task)
            self._examples[stage].add(batch, task.began_with)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking:
            return
        self._examples["val"].close()
        if trainer.state.fn != "fit":
            self._draw(trainer, pl_module, "val", "val")
        elif time.monotonic() - self._drawn_at >= 60 * self.every_n_minutes:
            self._draw_epoch(trainer, pl_module)

    def on_fit_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if self._drawn_step != trainer.global_step:
            self._draw_epoch(trainer, pl_module)

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._draw(trainer, pl_module, "test", "test")

    def _draw_epoch(self, trainer: Trainer, task: LightningModule) -> None:
        self._drawn_at, self._drawn_step = time.monotonic(), trainer.global_step
        self._draw(trainer, task, "val", f"val_epoch{self._epoch:02d}")

    def _draw(self, trainer: Trainer, task: LightningModule, stage: str, name: str) -> None:
        if not trainer.is_global_zero:
            return
        assert isinstance(task, Task)
        view = view_of(task)
        for number, examined in enumerate(self._examples[stage].examine(task), 1):
            if (figure := view.picture(examined.prediction, examined)) is not None:
                keep_picture(trainer, f"{stage}/{view.shows}_{number}", figure, f"{view.shows}/{name}_{number}.png")
