"""A table of test examples: what the network predicted, and what is true."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lightning import Callback, Trainer
from lightning.pytorch.loggers import WandbLogger

from zoo.arguments import Natural
from zoo.callbacks.pictures import FirstExamples, run_folder, write
from zoo.files import csv_text
from zoo.values import Checked
from zoo.visualize.view import view_of

IN_WANDB = 20  # Rows of the table in wandb


class PredictionsTable(Callback, Checked):
    """Writes the test examples with their predictions to `predictions.csv` in the run folder, and the first of them to
    wandb.

    Args:
        count: how many examples; null for all. With several ranks each predicts its own part.

    Rows are written batch by batch, so that the memory does not grow with the test set.
    """

    def __init__(self, count: Natural | None = None) -> None:
        self.count = count
        self._left = 0.0
        self._first: list[Any] = []

    def on_test_start(self, trainer: Trainer, pl_module: Any) -> None:
        self._first = []
        self._left = float("inf") if self.count is None else self.count
        if self._left and not (self.count is not None and trainer.global_rank):
            header = csv_text(view_of(pl_module).examined_columns(), [])
            write(_part(trainer), lambda path: path.write_text(header, "utf-8", newline=""))

    def on_test_batch_end(self, trainer: Trainer, pl_module: Any, outputs: Any, batch: Any, *_: Any) -> None:
        if (self.count is not None and trainer.global_rank) or not self._left:
            return
        examples = FirstExamples(int(min(self._left, batch.shown)))
        examples.add(batch, pl_module.began_with)
        view = view_of(pl_module)
        rows = [view.examined_row(examined) for examined in examples.examine(pl_module)]
        self._left -= len(rows)
        self._first += rows[: IN_WANDB - len(self._first)]
        text = csv_text(None, rows)

        def append(path: Path) -> None:
            with path.open("a", encoding="utf-8", newline="") as file:
                file.write(text)

        write(_part(trainer), append)

    def on_test_end(self, trainer: Trainer, pl_module: Any) -> None:
        trainer.strategy.barrier()
        if not trainer.is_global_zero or self.count == 0:
            return
        target = run_folder(trainer) / "predictions.csv"
        if trainer.world_size > 1 and self.count is None:
            write(target, lambda path: _merge([_part(trainer, rank) for rank in range(trainer.world_size)], path))
        else:
            write(target, _part(trainer).replace)
        for logger in trainer.loggers:
            if isinstance(logger, WandbLogger):
                columns = view_of(pl_module).examined_columns()
                logger.log_table("test/predictions", columns=columns, data=self._first)


def _part(trainer: Trainer, rank: int | None = None) -> Path:
    """The rows of one rank, until the test has ended."""
    return run_folder(trainer) / f".predictions.{trainer.global_rank if rank is None else rank}.tmp"


def _merge(parts: list[Path], target: Path) -> None:
    """Write the rows of all ranks in the order of their index, and remove the parts."""
    tables = [list(_rows(part)) for part in parts]
    rows = sorted((row for _, *table in tables for row in table), key=lambda row: int(row[0]))
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([tables[0][0], *rows])
    for part in parts:
        part.unlink()


def _rows(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)
