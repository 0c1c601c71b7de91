"""The bar of a run keeps one line; without a terminal there is none, but a line an epoch in the log."""

import csv
import io
import logging
import shutil
from os import terminal_size
from types import SimpleNamespace

import pytest
import torch
from rich.console import Console
from rich.progress import Progress as RichProgress
from rich.progress import TextColumn

from tests.run.programs import TINY, launch
from zoo.callbacks import Progress
from zoo.callbacks.progress import in_a_line

METRICS = {"train/loss": 0.123, "val/loss": 12.345, "val/accuracy": 0.987, "val/free_running_perplexity": 1234.5}


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_one_line(monkeypatch, columns):
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_, **__: terminal_size((columns, 24)))
    bar = Progress()
    trainer = SimpleNamespace(loggers=[SimpleNamespace(version=3)], progress_bar_metrics=METRICS)
    shown = bar.get_metrics(trainer, SimpleNamespace(monitor="val/accuracy"))
    assert "v_num" not in shown and (columns < 80 or "val/accuracy" in shown) and (columns < 200 or len(shown) == 4)
    text = TextColumn(" ".join(f"{name}: {value:.3f}" for name, value in shown.items()))
    console = Console(width=columns, file=io.StringIO(), force_terminal=True)
    progress = RichProgress(*bar.configure_columns(trainer), text, console=console)
    progress.add_task("Epoch 99/100", total=1000, completed=1000)
    console.print(progress)
    assert len(console.file.getvalue().splitlines()) == 1


def test_a_log_file_has_a_line_an_epoch_and_no_bars(tmp_path, capfd, cache_dir):
    overrides = [word for word in TINY if "enable_progress_bar" not in word]
    assert launch([*overrides, "callbacks=none", "trainer.max_epochs=2", "hydra.run.dir=run"], tmp_path) == 0
    printed = capfd.readouterr()
    text = printed.out + printed.err
    assert "━" not in text and "it/s" not in text and "examples/s]" not in text and "\r" not in text
    lines = [line for line in (tmp_path / "run/train.log").read_text().splitlines() if "epoch" in line]
    assert ["epoch 1, step 4" in lines[0], "epoch 2, step 8" in lines[1], len(lines)] == [True, True, 2]
    assert "train/loss" in lines[0] and "val/accuracy" in lines[0]


def test_a_metric_that_the_data_do_not_define_is_not_in_the_line_of_an_epoch():
    assert in_a_line(METRICS | {"val/copy_accuracy": torch.tensor(torch.nan)}) == in_a_line(METRICS)
    assert in_a_line({"val/loss": torch.tensor(1.5)}) == "val/loss 1.5"


def test_the_learning_rate_of_every_step_is_in_metrics_csv(tmp_path):
    rates = ["callbacks=learning_rate", "trainer.log_every_n_steps=1", "scheduler=linear", "optimizer.lr=0.01"]
    assert launch([*TINY, *rates, "trainer.max_epochs=1", "hydra.run.dir=run"], tmp_path) == 0
    rows = list(csv.DictReader((tmp_path / "run/metrics.csv").open()))
    found = [float(row["train/learning_rate"]) for row in rows if row["train/learning_rate"]]
    assert found == pytest.approx([0.01, 0.02 / 3, 0.01 / 3, 0], abs=1e-7)


@pytest.mark.parametrize(("outputs", "loss"), [({"loss": torch.tensor(0.25)}, ", loss 0.25"), ({}, ""), (None, "")])
def test_a_long_epoch_into_a_file_is_reported_every_minute(outputs, loss, monkeypatch, caplog):
    now = [0.0]
    monkeypatch.setattr("zoo.callbacks.progress.time.monotonic", lambda: now[0])
    bar, trainer = Progress(), SimpleNamespace(num_training_batches=2000, is_global_zero=True, current_epoch=0)
    bar.disable()
    bar._trainer = trainer
    with caplog.at_level(logging.INFO):
        for batch in range(150):
            bar.on_train_batch_end(trainer, None, outputs, None, batch)
            now[0] += 1
    assert [record.getMessage() for record in caplog.records] == [
        f"epoch 1: batch 61 of 2,000 (3%){loss}",
        f"epoch 1: batch 121 of 2,000 (6%){loss}",
    ]


def test_other_ranks_do_not_repeat_the_first(monkeypatch):
    from zoo.callbacks import checkpoint
    from zoo.run.train import quiet

    said = io.StringIO()
    monkeypatch.setattr(logging.root, "handlers", [logging.StreamHandler(said)])
    monkeypatch.setattr(checkpoint.rank_zero_only, "rank", 1)
    quiet()
    logging.getLogger("zoo.tasks").warning("once is enough")
    logging.getLogger("zoo.tasks").error("of this rank alone")
    assert said.getvalue() == "of this rank alone\n"
