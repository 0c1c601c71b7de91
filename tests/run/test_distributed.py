"""Two gloo processes: the same gradient, metrics and steps as one; sweeps, kills and outside launchers."""

import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from tests.run.programs import ROOT, SHORT, TINY, TINY_PAIRS, result, run, train


def weights(folder):
    return torch.load(folder / "checkpoints/last.ckpt", weights_only=True)["state_dict"]


@pytest.mark.parametrize("tiny", [TINY, TINY_PAIRS], ids=["classification", "translation"])
def test_two_processes_make_the_gradient_and_metrics_of_one(program_env, tmp_path, tiny):
    """One plain SGD step of rate 1: the change of the weights is the gradient. 16 examples of unequal length."""
    step = [
        "optimizer=sgd",
        "optimizer.lr=1",
        "optimizer.momentum=0",
        "trainer.gradient_clip_val=null",
        "trainer.max_steps=1",
    ]
    for trainer in ("cpu", "ddp_cpu"):
        train([*tiny, "callbacks=none", *step, f"trainer={trainer}", f"hydra.run.dir={trainer}"], tmp_path, program_env)
    one, two = weights(tmp_path / "cpu"), weights(tmp_path / "ddp_cpu")
    assert one.keys() == two.keys()
    for name, value in one.items():
        torch.testing.assert_close(
            two[name], value, rtol=1e-5, atol=1e-7, msg=lambda text, name=name: f"{name}: {text}"
        )
    alone, together = result(tmp_path / "cpu"), result(tmp_path / "ddp_cpu")
    assert together["devices"] == 2 and together["metrics"].keys() == alone["metrics"].keys()
    for name, value in alone["metrics"].items():  # 37 test examples on 2 ranks: one rank has one more
        assert together["metrics"][name] == pytest.approx(value, rel=1e-5), name


def test_a_multirun_of_jobs_with_two_processes(program_env, tmp_path):
    done = train(["-m", *SHORT, "trainer=ddp_cpu", "optimizer.lr=0.001,0.02"], tmp_path, program_env)
    (sweep,) = (tmp_path / "logs/sweeps").iterdir()  # one folder: no rank started a sweep of its own
    results = [result(sweep / job) for job in ("0", "1")]
    assert [r["devices"] for r in results] == [2, 2]
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


def start(overrides, folder, environment):
    words = [sys.executable, str(ROOT / "train.py"), *overrides]
    return subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(path, process, seconds=120):
    end = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None, process.communicate()[1][-4000:]
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.02)


LONG = [*TINY, "callbacks=none", "trainer.max_epochs=30", "callbacks.last.every_n_steps=1", "model.dropout=0.3"]


def test_sigkill_and_ckpt_path_last(program_env, tmp_path):
    train([*LONG, "hydra.run.dir=whole"], tmp_path, program_env)
    process = start(LONG, tmp_path, program_env)
    logs = tmp_path / "logs/han_yelp"
    while process.poll() is None and not list(logs.glob("*/checkpoints/last.ckpt")):
        time.sleep(0.02)
    time.sleep(1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (killed,) = logs.iterdir()
    reached = torch.load(killed / "checkpoints/last.ckpt", weights_only=True)["global_step"]
    assert 0 < reached < 30 * 4
    train([*LONG, "ckpt_path=last"], tmp_path, program_env)
    (resumed,) = set(logs.iterdir()) - {killed}
    for name, value in weights(tmp_path / "whole").items():
        assert torch.equal(weights(resumed)[name], value), name
    assert result(resumed)["metrics"] == result(tmp_path / "whole")["metrics"]


@pytest.mark.parametrize(
    ("trainer", "number", "name"),
    [("cpu", signal.SIGTERM, "SIGTERM"), ("ddp_cpu", signal.SIGTERM, "SIGTERM"), ("ddp_cpu", signal.SIGINT, "Ctrl-C")],
)
def test_a_signal_saves_and_ends_cleanly(program_env, tmp_path, trainer, number, name):
    long = [
        *LONG,
        "trainer.max_epochs=5000",
        "callbacks.last.every_n_steps=null",
        f"trainer={trainer}",
        "hydra.run.dir=run",
    ]
    process = start(long, tmp_path, program_env)
    wait_for(tmp_path / "run/checkpoints/last.ckpt", process)
    process.send_signal(number)
    said, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, errors[-4000:]
    assert errors.count(f"asked to end ({name})") == 1, errors[-4000:]
    assert "ckpt_path=last" in errors and "Traceback" not in errors
    assert said.count("parameters") == 1  # the ranks do not repeat each other
    assert os.listdir(tmp_path / "run/checkpoints").count("last.ckpt") == 1
    assert torch.load(tmp_path / "run/checkpoints/last.ckpt", weights_only=True)["global_step"] > 0
