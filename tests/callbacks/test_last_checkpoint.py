"""When last.ckpt is written: at the end of each epoch, and between by steps or by minutes."""

from types import SimpleNamespace

import pytest
import torch
from lightning import Callback

from tests.callbacks import runs
from zoo.callbacks import BestCheckpoint, FinalValidation, LastCheckpoint, checkpoint


class Saves(Callback):
    """The optimiser steps at which something was saved."""

    def __init__(self):
        self.steps = []

    def on_save_checkpoint(self, trainer, pl_module, checkpoint):
        self.steps.append(trainer.global_step)


def saved(folder, last, **options):
    saves = Saves()
    trainer = runs.trainer(folder, [last, saves], max_epochs=2, enable_checkpointing=True, **options)
    trainer.fit(runs.task(), runs.loader(), runs.loader())
    assert torch.load(folder / "checkpoints/last.ckpt", weights_only=True)["global_step"] == saves.steps[-1]
    return saves.steps


@pytest.mark.parametrize(("every", "steps"), [(None, [4, 8]), (1, [1, 2, 3, 4, 5, 6, 7, 8]), (3, [3, 4, 6, 8])])
def test_every_so_many_steps_and_at_the_end_of_an_epoch(tmp_path, every, steps):
    assert saved(tmp_path, LastCheckpoint(every_n_steps=every)) == steps


def test_steps_are_the_optimisers(tmp_path):
    """Two batches make a step; in the middle of one nothing is saved."""
    assert saved(tmp_path, LastCheckpoint(every_n_steps=1), accumulate_grad_batches=2) == [1, 2, 3, 4]


def test_every_so_many_minutes(tmp_path, monkeypatch):
    """A step takes a minute; the end of an epoch counts as a save."""
    now = [0.0]

    class Clock(Callback):
        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
            now[0] += 60

    monkeypatch.setattr(checkpoint, "time", SimpleNamespace(monotonic=lambda: now[0]))
    saves = Saves()
    callbacks = [Clock(), LastCheckpoint(every_n_minutes=3), saves]
    trainer = runs.trainer(tmp_path, callbacks, max_epochs=2, enable_checkpointing=True)
    trainer.fit(runs.task(), runs.loader(), runs.loader())
    assert saves.steps == [3, 4, 7, 8]


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({"max_epochs": 3, "check_val_every_n_epoch": 2}, [8, 12]),
        ({"max_epochs": 3, "max_steps": 6}, [4, 6]),
        ({"max_epochs": -1, "max_steps": 3, "val_check_interval": 2}, [2, 3]),
        ({"max_epochs": 2}, [4, 8]),
    ],
)
def test_the_last_step_of_a_run_is_validated_and_ends_it(tmp_path, options, steps):
    """Four steps make an epoch. The last weights may be the best ones, wherever in an epoch they are reached."""
    validated = []

    class Validated(Callback):
        def on_validation_end(self, trainer, pl_module):
            validated.append(trainer.global_step)

    options = {"num_sanity_val_steps": 0, **options}
    trainer = runs.trainer(tmp_path, [FinalValidation(), Validated()], **options)
    trainer.fit(runs.task(), runs.loader(), runs.loader())
    assert validated == steps and trainer.global_step == steps[-1] and trainer.should_stop


def test_a_resumed_run_keeps_the_better_file_of_its_own_folder(tmp_path):
    """Two runs share a folder: the second brings its own best along, and an older best does not go over it."""
    here, there = tmp_path / "here/checkpoints", tmp_path / "there/checkpoints"
    for folder, content in ((here, "newer"), (there, "older")):
        folder.mkdir(parents=True)
        (folder / "best.ckpt").write_text(content)
    best = BestCheckpoint("val/loss", "min")
    best.dirpath = str(here)
    best.load_state_dict({"best_model_path": str(there / "best.ckpt"), "best_model_score": torch.tensor(0.5)})
    assert (here / "best.ckpt").read_text() == "newer"
    assert best.best_model_path == str(here / "best.ckpt")
    (here / "best.ckpt").unlink()
    best.load_state_dict({"best_model_path": str(there / "best.ckpt"), "best_model_score": torch.tensor(0.5)})
    assert (here / "best.ckpt").read_text() == "older"
