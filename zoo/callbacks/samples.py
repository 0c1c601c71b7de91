"""A table of test documents: what the network said, and of which words."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from lightning import Callback, LightningModule, Trainer
from lightning.pytorch.loggers import WandbLogger

from zoo.callbacks.examples import Example, Examples
from zoo.callbacks.pictures import run_folder, write
from zoo.tasks.classification import Classification
from zoo.visualize.weighing import shown, top_words

COLUMNS = ["index", "text", "true", "predicted", "probability", "top words"]
TOP_WORDS = 5


class PredictionsTable(Callback):
    """Writes the first `count` test documents and what was predicted to `predictions.csv` in the run folder and wandb.

    `top words` are those with the highest share of the document's attention, and that share.
    """

    def __init__(self, count: int = 20) -> None:
        if count < 0:
            raise ValueError(f"count is at least 0; got {count}")
        self.count = count
        self._examples = Examples(count)

    def on_test_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self._examples = Examples(self.count)

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
        assert isinstance(pl_module, Classification)
        rows = [_row(example) for example in self._examples.predict(pl_module)]
        write(run_folder(trainer) / "predictions.csv", lambda path: _write_csv(path, rows))
        for logger in trainer.loggers:
            if isinstance(logger, WandbLogger):
                logger.log_table("test/predictions", columns=COLUMNS, data=rows)


def _row(example: Example) -> list[Any]:
    prediction = example.prediction
    return [
        example.index,
        shown(" ".join(word for sentence in prediction.sentences for word in sentence.words)),
        example.true_label or "",
        prediction.label,
        round(prediction.probabilities[prediction.label], 4),
        shown(", ".join(f"{word} {share:.2f}" for word, share in top_words(prediction, TOP_WORDS))),
    ]


def _write_csv(path: Path, rows: list[list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
