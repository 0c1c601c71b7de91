"""Checkpoint files: whole or not at all, plain data only, clear errors."""

import errno
import os

import pytest
import torch

import zoo
from zoo.errors import CheckpointError
from zoo.run.checkpoint import AtomicCheckpointIO, find_last, read_checkpoint

CONTENT = {"zoo": {"format": 1}, "state_dict": {"w": torch.arange(3.0)}}


def test_write_and_read(tmp_path):
    AtomicCheckpointIO().save_checkpoint(CONTENT, tmp_path / "new" / "a.ckpt")
    assert read_checkpoint(tmp_path / "new" / "a.ckpt")["state_dict"]["w"].tolist() == [0, 1, 2]
    assert os.listdir(tmp_path / "new") == ["a.ckpt"]


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path, monkeypatch, where):
    path = tmp_path / "a.ckpt"
    AtomicCheckpointIO().save_checkpoint(CONTENT, path)
    before = path.read_bytes()

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, where, full)
    with pytest.raises(CheckpointError, match=r"a\.ckpt.*No space left on device.*last good one, unchanged"):
        AtomicCheckpointIO().save_checkpoint({"zoo": {"format": 1}, "other": 1}, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.ckpt"]


def test_a_write_that_fails_in_the_middle_leaves_nothing(tmp_path):
    resource = pytest.importorskip("resource")
    import signal

    path = tmp_path / "a.ckpt"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        with pytest.raises(CheckpointError, match="could not write"):
            AtomicCheckpointIO().save_checkpoint({"zoo": {"format": 1}, "w": torch.zeros(100_000)}, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"hydra\.run\.dir"):
        AtomicCheckpointIO().save_checkpoint(CONTENT, tmp_path / "file" / "a.ckpt")


def test_missing(tmp_path):
    with pytest.raises(CheckpointError, match="no such checkpoint"):
        zoo.load(tmp_path / "none.ckpt")


def test_damaged(tmp_path):
    path = tmp_path / "a.ckpt"
    AtomicCheckpointIO().save_checkpoint(CONTENT, path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(CheckpointError, match=r"a\.ckpt: not a readable checkpoint"):
        read_checkpoint(path)


def test_text(tmp_path):
    (tmp_path / "a.ckpt").write_text("hello")
    with pytest.raises(CheckpointError, match="not a readable checkpoint"):
        read_checkpoint(tmp_path / "a.ckpt")


def test_a_pickled_module_is_not_run(tmp_path):
    torch.save(torch.nn.Linear(1, 1), tmp_path / "a.ckpt")
    with pytest.raises(CheckpointError, match="not plain data"):
        read_checkpoint(tmp_path / "a.ckpt")


def test_foreign(tmp_path):
    torch.save({"state_dict": {}}, tmp_path / "a.ckpt")
    with pytest.raises(CheckpointError, match="not written by attention-zoo"):
        read_checkpoint(tmp_path / "a.ckpt")


def test_another_format(tmp_path):
    torch.save({"zoo": {"format": 99}}, tmp_path / "a.ckpt")
    with pytest.raises(CheckpointError, match="format 99; this version reads format 1"):
        read_checkpoint(tmp_path / "a.ckpt")


def test_last_is_the_newest_of_earlier_runs(tmp_path):
    for age, run in enumerate(["own", "new", "old"]):
        folder = tmp_path / run / "checkpoints"
        folder.mkdir(parents=True)
        (folder / "last.ckpt").write_text("")
        os.utime(folder / "last.ckpt", (1000 - age, 1000 - age))
    assert find_last(tmp_path, tmp_path / "own") == tmp_path / "new" / "checkpoints" / "last.ckpt"
    with pytest.raises(CheckpointError, match="no earlier run"):
        find_last(tmp_path / "empty", tmp_path / "own")
