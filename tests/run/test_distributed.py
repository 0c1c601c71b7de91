"""Two gloo processes: the same gradient, metrics and steps as one; sweeps, kills and outside launchers."""

import os
import signal
import sys
import time

import pytest
import torch

from tests.run.programs import (
    ROOT,
    SHORT,
    TINY,
    launch,
    result,
    run,
    saved,
    start,
    train,
    train_ranks,
    weights,
)


def assert_equal_weights(folder, other):
    for name, value in weights(other).items():
        assert torch.equal(weights(folder)[name], value), name


PLAIN_SGD = ["optimizer=sgd", "optimizer.momentum=0", "scheduler=none", "trainer.gradient_clip_val=null"]


def test_each_rank_goes_on_with_its_own_random_numbers(program_env, tmp_path):
    """Ranks draw unlike dropout masks; a resumed run gives each its own back, so that all is as uninterrupted."""
    steady = [*TINY, "callbacks=none", *PLAIN_SGD, "optimizer.lr=0.5", "model.dropout=0.5"]
    train_ranks([*steady, "trainer.max_epochs=2", "hydra.run.dir=whole"], tmp_path, program_env)
    train_ranks([*steady, "trainer.max_epochs=1", "hydra.run.dir=half"], tmp_path, program_env)
    resume = f"ckpt_path={tmp_path / 'half/checkpoints/last.ckpt'}"
    train_ranks([*steady, "trainer.max_epochs=2", "hydra.run.dir=rest", resume], tmp_path, program_env)
    assert_equal_weights(tmp_path / "rest", tmp_path / "whole")
    whole, rest = (saved(tmp_path / name)["callbacks"]["RandomState"]["ranks"] for name in ("whole", "rest"))
    assert len(whole) == 2
    assert not torch.equal(whole[0]["torch"], whole[1]["torch"])
    for rank in range(2):
        assert torch.equal(rest[rank]["torch"], whole[rank]["torch"])
        assert rest[rank]["numpy"] == whole[rank]["numpy"] and rest[rank]["python"] == whole[rank]["python"]


def test_a_multirun_of_jobs_with_two_processes(program_env, tmp_path):
    done = train(["-m", *SHORT, "trainer=ddp_cpu", "optimizer.lr=0.001,0.02"], tmp_path, program_env)
    (sweep,) = (tmp_path / "logs/sweeps").iterdir()  # one folder: no rank started a sweep of its own
    results = [result(sweep / job) for job in ("0", "1")]
    assert [r["devices"] for r in results] == [2, 2]
    trained = [r["examples_per_second"] * r["phases"]["training"] for r in results]
    assert trained == pytest.approx([2 * 61, 2 * 61], rel=0.05)  # both ranks' examples, in two epochs
    assert [next(o for o in r["overrides"] if "lr" in o) for r in results] == [
        "optimizer.lr=0.001",
        "optimizer.lr=0.02",
    ]
    best = max(results, key=lambda r: r["score"])
    assert done.stdout.splitlines()[-1].startswith(f"best: val/accuracy {best['score']:.4f}")


def test_torchrun(program_env, tmp_path):
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", str(ROOT / "train.py")]
    done = run([*words, *SHORT, "trainer=ddp_cpu"], tmp_path, program_env)
    assert done.returncode == 0, done.stderr[-4000:]
    (folder,) = (tmp_path / "logs/han_yelp").iterdir()  # both processes chose the same folder
    assert result(folder)["devices"] == 2


LONG = [*TINY, "callbacks=none", "trainer.max_epochs=10", "callbacks.last.every_n_steps=1", "model.dropout=0.3"]


def test_sigkill_and_ckpt_path_last(program_env, tmp_path):
    assert launch([*LONG, "hydra.run.dir=whole"], tmp_path) == 0
    program, logs = start(LONG, tmp_path, program_env), tmp_path / "logs/han_yelp"
    program.wait_for(lambda: list(logs.glob("*/checkpoints/last.ckpt")))
    time.sleep(0.1)  # anywhere in a step, or while saving
    program.signal(signal.SIGKILL)
    assert program.wait() == -signal.SIGKILL
    (killed,) = logs.iterdir()
    assert 0 < saved(killed)["global_step"] < 10 * 4
    assert launch([*LONG, "ckpt_path=last"], tmp_path) == 0
    (resumed,) = set(logs.iterdir()) - {killed}
    assert_equal_weights(resumed, tmp_path / "whole")
    assert result(resumed)["metrics"] == result(tmp_path / "whole")["metrics"]


@pytest.mark.parametrize(
    ("trainer", "number", "name"), [("cpu", signal.SIGTERM, "SIGTERM"), ("ddp_cpu", signal.SIGINT, "Ctrl-C")]
)
def test_a_signal_saves_and_ends_cleanly(program_env, tmp_path, trainer, number, name):
    endless = ["trainer.max_epochs=5000", "callbacks.last.every_n_steps=null", f"trainer={trainer}"]
    program = start([*LONG, *endless, "hydra.run.dir=run"], tmp_path, program_env)
    program.wait_for((tmp_path / "run/checkpoints/last.ckpt").exists)
    program.signal(number)
    assert program.wait() == 128 + number, program.stderr[-4000:]
    assert program.stderr.count(f"asked to end ({name})") == 1, program.stderr[-4000:]
    assert "ckpt_path=last" in program.stderr and "Traceback" not in program.stderr
    assert "error:" not in program.stderr and "sync_dist" not in program.stderr
    assert program.stdout.count("parameters") == 1  # the ranks do not repeat each other
    assert os.listdir(tmp_path / "run/checkpoints").count("last.ckpt") == 1
    assert saved(tmp_path / "run")["global_step"] > 0
