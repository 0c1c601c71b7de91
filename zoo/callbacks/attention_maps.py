"""Pictures of what the network attends to, on the same documents each time."""

from __future__ import annotations

from typing import Any

from lightning import Callback, LightningModule, Trainer

from zoo.callbacks.examples import Examples
from zoo.callbacks.pictures import keep_picture
from zoo.tasks import Task
from zoo.visualize.review import attention_figure


class AttentionMaps(Callback):
    """Draws the first `count` examples of the validation set every `every_n_epochs` epochs, and of the test set.

    The pictures are `attention/val_epoch03_1.png`, `attention/test_1.png`, ... in the run folder, and
    `val/attention_1`, `test/attention_1`, ... in wandb and TensorBoard. A second validation in an epoch replaces the
    files of the first.
    """

    def __init__(self, count: int = 4, every_n_epochs: int = 1) -> None:
        if count < 0 or every_n_epochs < 1:
            raise ValueError(f"count is at least 0 and every_n_epochs at least 1; got {count} and {every_n_epochs}")
        self.count, self.every_n_epochs = count, every_n_epochs
        self._examples: dict[str, Examples] = {}

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self._examples = {"val": Examples(self.count), "test": Examples(self.count)}

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
            self._see(trainer, "val", batch, dataloader_idx)

    def on_test_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        self._see(trainer, "test", batch, dataloader_idx)

    def _see(self, trainer: Trainer, stage: str, batch: Any, dataloader_idx: int) -> None:
        if trainer.is_global_zero and dataloader_idx == 0:
            self._examples[stage].add(batch)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if trainer.sanity_checking:
            return
        self._examples["val"].close()
        if trainer.state.fn != "fit":
            self._draw(trainer, pl_module, "val", "val")
        elif (trainer.current_epoch + 1) % self.every_n_epochs == 0:
            self._draw(trainer, pl_module, "val", f"val_epoch{trainer.current_epoch:02d}")

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._draw(trainer, pl_module, "test", "test")

    def _draw(self, trainer: Trainer, task: LightningModule, stage: str, name: str) -> None:
        if not trainer.is_global_zero:
            return
        assert isinstance(task, Task)
        for number, reviewed in enumerate(self._examples[stage].review(task), 1):
            if (figure := attention_figure(reviewed)) is not None:
                keep_picture(trainer, f"{stage}/attention_{number}", figure, f"attention/{name}_{number}.png")
