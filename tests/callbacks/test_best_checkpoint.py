"""The best checkpoint of a resumed run."""

import os
import shutil

import torch

from zoo.callbacks.checkpoint import BestCheckpoint


def callback(folder):
    found = BestCheckpoint("val/loss", "min")
    found.dirpath = str(folder)
    return found


def test_ranks_that_resume_at_once_do_not_take_each_others_file(tmp_path, monkeypatch):
    """A second rank copies the best file and gives it its name, while the first one has copied and not named it."""
    (tmp_path / "old.ckpt").write_bytes(b"weights")
    state = {"best_model_path": str(tmp_path / "old.ckpt"), "best_model_score": torch.tensor(1.5)}
    first, second, copy = callback(tmp_path / "new"), callback(tmp_path / "new"), shutil.copyfile

    def copied(source, target):
        copy(source, target)
        with monkeypatch.context() as other:
            other.setattr(shutil, "copyfile", copy)
            other.setattr(os, "getpid", lambda: 1)
            second.load_state_dict(state)

    monkeypatch.setattr(shutil, "copyfile", copied)
    first.load_state_dict(state)
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["best.ckpt"]
    assert first.best_model_score == second.best_model_score == 1.5
