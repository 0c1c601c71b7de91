"""A table of test examples: what the network said, and what is true."""

from __future__ import annotations

from typing import Any

from lightning import Callback, LightningModule, Trainer
from lightning.pytorch.loggers import WandbLogger

from zoo.arguments import Natural
from zoo.callbacks.examples import FirstExamples
from zoo.callbacks.pictures import run_folder, write
from zoo.tasks import Task
from zoo.visualize.files import csv_text
from zoo.visualize.view import view_of


class PredictionsTable(Callback):
    """Writes the first `count` test examples and what was predicted to `predictions.csv` in the run folder, and to
    wandb."""

    def __init__(self, count: Natural = 20) -> None:
        if count < 0:
            raise ValueError(f"count is at least 0; got {count}")
        self.count = count
        self._examples = FirstExamples(count)

    def on_test_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._examples = FirstExamples(self.count)

    def on_test_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        if trainer.is_global_zero and dataloader_idx == 0:
            self._examples.add(batch)

    def on_test_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        if not trainer.is_global_zero or self.count == 0:
            return
        assert isinstance(pl_module, Task)
        view = view_of(pl_module)
        columns = view.examined_columns()
        rows = [view.examined_row(examined) for examined in self._examples.examine(pl_module)]
        text = csv_text(columns, rows)
        write(run_folder(trainer) / "predictions.csv", lambda path: path.write_text(text, "utf-8", newline=""))
        for logger in trainer.loggers:
            if isinstance(logger, WandbLogger):
                logger.log_table("test/predictions", columns=columns, data=rows)
