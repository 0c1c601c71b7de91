"""curves.png after a run that ends, is stopped or fails; loss and gradient norm by step."""

import csv
import logging
import math
import os
import signal
from itertools import pairwise

import pytest
import torch
from lightning.pytorch.loggers import CSVLogger
from torch import nn

from tests.callbacks.runs import BATCHES, loader, task, trainer
from tests.run.programs import TINY, launch
from zoo.callbacks import CurvesPicture, StepMetrics
from zoo.tasks import Classification
from zoo.visualize.curves import read_series

CURVES = [*TINY, "callbacks=[checkpoint,steps,curves]", "trainer.log_every_n_steps=1", "hydra.run.dir=run"]


def fitted(folder, one, callbacks, **options):
    made = trainer(folder, callbacks, logger=CSVLogger(folder, name="", version=""), log_every_n_steps=1, **options)
    made.fit(one, loader(), loader())
    return read_series(folder / "metrics.csv")


def test_at_the_end_and_after_a_signal_and_after_a_failure(tmp_path, monkeypatch):
    assert launch([*CURVES, "trainer.max_epochs=1"], tmp_path) == 0
    picture = tmp_path / "run/curves.png"
    assert picture.read_bytes().startswith(b"\x89PNG")

    picture.unlink()
    step = Classification.training_step

    def asked(self, batch, batch_idx):
        if self.global_step == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(self, batch, batch_idx)

    with monkeypatch.context() as patch:
        patch.setattr(Classification, "training_step", asked)
        assert launch([*CURVES, "trainer.max_epochs=1"], tmp_path) == 128 + signal.SIGTERM
    assert picture.is_file()

    picture.unlink()
    assert launch([*CURVES, "optimizer=sgd", "optimizer.lr=1e30", "trainer.gradient_clip_val=null"], tmp_path) == 2
    assert picture.is_file()


def test_without_metrics_there_is_no_picture(tmp_path):
    assert launch([*CURVES, "trainer.max_epochs=1", "logger=none"], tmp_path) == 0
    assert not (tmp_path / "run/curves.png").exists()


def test_a_picture_that_cannot_be_drawn_does_not_end_the_run(tmp_path, caplog):
    (tmp_path / "curves.png").mkdir()
    with caplog.at_level(logging.WARNING):
        fitted(tmp_path, task(), [CurvesPicture()])
    assert [record.getMessage().split(":")[0] for record in caplog.records if "curves" in record.getMessage()] == [
        "curves.png is not drawn"
    ]


class Watched(Classification):
    """Stores the norm of each step's gradients as torch computes it, before they are clipped."""

    def on_before_optimizer_step(self, optimizer):
        norms = [parameter.grad.norm() for parameter in self.parameters() if parameter.grad is not None]
        self.seen = [*getattr(self, "seen", []), torch.stack(norms).norm().item()]


@pytest.mark.parametrize(
    "clip", [{"gradient_clip_val": 1e-3}, {}, {"gradient_clip_val": 1e-3, "gradient_clip_algorithm": "value"}]
)
def test_the_norm_is_that_of_the_gradients_before_they_are_clipped(tmp_path, clip):
    made = task()
    made.__class__ = Watched
    series = fitted(tmp_path, made, [StepMetrics()], **clip)
    assert [value for _, value in series["train/gradient_norm"]] == pytest.approx(made.seen, rel=1e-5)
    assert len(made.seen) == len(BATCHES) and all(one != other for one, other in pairwise(made.seen))


def test_the_loss_of_a_step_is_that_of_its_batch_and_the_epochs_is_their_mean(tmp_path):
    series = fitted(tmp_path, task(), [StepMetrics()], max_epochs=2, accumulate_grad_batches=1)
    steps = [value for _, value in series["train/loss_step"]]
    count = len(BATCHES)  # of equal size
    means = [sum(steps[:count]) / count, sum(steps[count:]) / count]
    assert means == pytest.approx([value for _, value in series["train/loss"]], rel=1e-5)


def test_an_accumulated_step_has_the_loss_of_its_last_batch(tmp_path):
    with torch.no_grad():
        torch.manual_seed(0)
        last = nn.functional.cross_entropy(task().network(BATCHES[1]).logits, BATCHES[1].label).item()
    series = fitted(tmp_path, task(), [StepMetrics()], accumulate_grad_batches=2)
    assert series["train/loss_step"][0][1] == pytest.approx(last, rel=1e-5)


def test_only_steps_that_are_logged_are_measured(tmp_path, monkeypatch):
    measured = []
    norm = nn.utils.get_total_norm
    monkeypatch.setattr(nn.utils, "get_total_norm", lambda *a, **k: measured.append(norm(*a, **k)) or measured[-1])
    made = trainer(tmp_path, [StepMetrics()], logger=CSVLogger(tmp_path, name="", version=""), log_every_n_steps=3)
    made.fit(task(), loader())
    with (tmp_path / "metrics.csv").open() as file:
        found = [float(row["train/gradient_norm"]) for row in csv.DictReader(file) if row["train/gradient_norm"]]
    assert found[0] == pytest.approx(measured[0].item()) and len(measured) == 2, "the third step and the last"
    assert all(map(math.isfinite, found))
