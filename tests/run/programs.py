"""Starting train.py as a user does: a process of its own, small sizes, a folder of its own.

From the dearest to the cheapest: `run` starts Python anew and imports for seconds; `start` and `train` fork a process
that has imported everything; `launch` works within this process, on one device. Take the cheapest that can tell.
"""

import atexit
import functools
import json
import logging
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from hydra.core.global_hydra import GlobalHydra
from lightning import LightningModule

from zoo.run.launch import main

ROOT = Path(__file__).resolve().parents[2]
TINY = [
    "model.embedding_dim=8",
    "model.word_hidden_dim=4",
    "model.word_attention_dim=4",
    "model.sentence_hidden_dim=4",
    "model.sentence_attention_dim=4",
    "data.sample.train=61",  # uneven on purpose: neither batches nor ranks divide it
    "data.sample.val=23",
    "data.sample.test=37",
    "data.loader.batch_size=16",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
]
SHORT = [*TINY, "callbacks=none", "trainer.max_epochs=2"]
TINY_PAIRS = [
    "model=luong",
    "data=multi30k",
    "model.embedding_dim=8",
    "model.hidden_dim=8",
    "model.num_layers=1",
    "data.text.minimum_frequency=1",
    "decoding.max_length=[1.0,2]",
    *(word for word in TINY if not word.startswith("model.")),
]


@functools.cache
def server() -> subprocess.Popen[str]:
    """The process that forks programs (tests/run/server.py); it ends with this one."""
    command = [sys.executable, "-m", "tests.run.server"]
    started = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(started.communicate)
    return started


def ask(**request: Any) -> str:
    """The server's answer."""
    pipes = server()
    assert pipes.stdin is not None and pipes.stdout is not None
    pipes.stdin.write(json.dumps(request) + "\n")
    pipes.stdin.flush()
    return pipes.stdout.readline().strip()


class Program:
    """`python *words` in `folder` and `environment`, forked; its output as text when it has ended."""

    def __init__(self, words: list[str], folder: Path, environment: dict[str, str], stdin: str = "") -> None:
        self._outputs = tempfile.TemporaryDirectory()
        files = {name: str(Path(self._outputs.name, name)) for name in ("stdin", "stdout", "stderr")}
        Path(files["stdin"]).write_text(stdin, encoding="utf-8")
        self.pid = int(ask(words=words, folder=str(folder), environment=environment, **files))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, None while the program runs."""
        if self.returncode is None and (answer := ask(pid=self.pid)) != "running":
            self.returncode = int(answer)
        return self.returncode

    def wait_for(self, event: Callable[[], Any], seconds: float = 120) -> None:
        """Until `event`; the program must not have ended before."""
        until = time.monotonic() + seconds
        while not event():
            assert self.poll() is None, self.stderr[-6000:]
            assert time.monotonic() < until, "the program runs, and what was waited for did not come"
            time.sleep(0.02)

    def wait(self, seconds: float = 240) -> int:
        """The exit code, once there is one."""
        until = time.monotonic() + seconds
        while self.poll() is None:
            assert time.monotonic() < until, f"still running after {seconds} seconds: {self.stderr[-6000:]}"
            time.sleep(0.02)
        assert self.returncode is not None
        return self.returncode

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    @property
    def stdout(self) -> str:
        return Path(self._outputs.name, "stdout").read_text(encoding="utf-8")

    @property
    def stderr(self) -> str:
        return Path(self._outputs.name, "stderr").read_text(encoding="utf-8")


def start(overrides: list[str], folder: Path, environment: dict[str, str]) -> Program:
    """`python train.py <overrides>`, running."""
    return Program([str(ROOT / "train.py"), *overrides], folder, environment)


def train(overrides: list[str], folder: Path, environment: dict[str, str], expect: int = 0) -> Program:
    """Run the program to its end. Fails the test, with the output, on another exit code."""
    program = start(overrides, folder, environment)
    assert program.wait() == expect, program.stdout[-3000:] + program.stderr[-6000:]
    return program


def free_port() -> int:
    """A port below those that the system gives to connections, so that none takes it before the first rank does."""
    draw = random.SystemRandom()
    while True:
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port := draw.randrange(20_000, 32_000)))
            return port


def ranks(words: list[str], folder: Path, environment: dict[str, str], count: int = 2) -> list[Program]:
    """`python *words` as `count` ranks that an outside launcher starts together, ended well."""
    shared = environment | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "TORCHELASTIC_RUN_ID": "tests"}
    shared |= {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "GROUP_RANK": "0"}
    programs = [Program(words, folder, shared | {"RANK": str(n), "LOCAL_RANK": str(n)}) for n in range(count)]
    codes = [program.wait() for program in programs]  # all of them: one that is left alone says only that it was
    ended = (f"rank {n} ended with {codes[n]}:\n{p.stdout[-3000:]}{p.stderr[-6000:]}" for n, p in enumerate(programs))
    assert not any(codes), "\n".join(ended)
    return programs


def train_ranks(overrides: list[str], folder: Path, environment: dict[str, str]) -> None:
    """`python train.py <overrides>` as two ranks, with its progress: what only the first prints must not wait for the
    other."""
    words = [word for word in overrides if not word.startswith("trainer.enable_progress_bar=")]
    ranks([str(ROOT / "train.py"), "trainer=ddp_cpu", *words], folder, environment)


def same_on_two_ranks(
    overrides: list[str], folder: Path, environment: dict[str, str], *, apart: tuple[str, ...] = (), rtol: float = 1e-4
) -> dict[str, float]:
    """A command run by one process, in the folder `one`, and by two ranks, in `two`: their last weights are equal, but
    for those named in `apart`, and their test metrics, which are returned."""
    assert launch([*overrides, "trainer=cpu", "hydra.run.dir=one"], folder) == 0
    train_ranks([*overrides, "hydra.run.dir=two"], folder, environment)
    one, two = weights(folder / "one"), weights(folder / "two")
    assert one.keys() == two.keys()
    for name in one.keys() - set(apart):
        torch.testing.assert_close(two[name], one[name], rtol=rtol, atol=rtol / 100, msg=f"{name}: ".__add__)
    alone, together = result(folder / "one"), result(folder / "two")
    assert (alone["devices"], together["devices"]) == (1, 2) and alone["steps"] == together["steps"] > 0
    assert together["metrics"] == pytest.approx(alone["metrics"], rel=rtol)
    return together["metrics"]


def run(
    words: list[str], folder: Path, environment: dict[str, str], timeout: int = 240
) -> subprocess.CompletedProcess[str]:
    """A program started anew, finished, with its output as text."""
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout)


def launch(overrides: list[str], folder: Path) -> int:
    """Run within this process, with one device, which saves the imports. Returns the exit code."""
    argv, here = sys.argv, os.getcwd()
    warning_filters = warnings.filters[:]
    levels = {name: logging.getLogger(name).level for name in logging.root.manager.loggerDict}
    sys.argv = [str(ROOT / "train.py"), *overrides]
    os.chdir(folder)
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = argv
        os.chdir(here)
        if "joblib.externals.loky" in sys.modules:  # its workers stay, and stay in this folder
            sys.modules["joblib.externals.loky"].get_reusable_executor().shutdown(wait=True)
        GlobalHydra.instance().clear()
        warnings.filters[:] = warning_filters
        for handler in logging.root.handlers[:]:
            if isinstance(handler, logging.FileHandler):
                logging.root.removeHandler(handler)
                handler.close()
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
    return 0


def result(folder: Path) -> dict[str, Any]:
    """The run's result.json."""
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def saved(folder: Path, name: str = "last") -> dict[str, Any]:
    """The content of a checkpoint of a run."""
    return torch.load(folder / f"checkpoints/{name}.ckpt", weights_only=True)


def weights(folder: Path) -> dict[str, Any]:
    """The weights in the last checkpoint of a run."""
    return saved(folder)["state_dict"]


def killed_and_resumed(
    overrides: list[str], folder: Path, task: type[LightningModule], patching: pytest.MonkeyPatch, *steps: int
) -> None:
    """Run a command once in the folder `whole`, and then resume it from the files that it had before each of `steps`.

    The files before step n are copied to `killed<n>`, as a kill would leave them, and resumed in `resumed<n>`. All last
    weights are equal.
    """
    training_step: Callable[..., Any] = task.training_step

    def copied(self: LightningModule, batch: Any, batch_idx: int) -> Any:
        target = folder / f"killed{self.global_step}"
        if self.global_step in steps and not target.exists():
            shutil.copytree(folder / "whole", target)
        return training_step(self, batch, batch_idx)

    every = [*overrides, "callbacks.last.every_n_steps=1"]
    with patching.context() as patch:
        patch.setattr(task, "training_step", copied)
        assert launch([*every, "hydra.run.dir=whole"], folder) == 0
    whole = weights(folder / "whole")
    for step in steps:
        words = [f"hydra.run.dir=resumed{step}", f"ckpt_path=killed{step}"]
        assert launch([*every, *words], folder) == 0
        resumed = weights(folder / f"resumed{step}")
        assert whole.keys() == resumed.keys()
        assert all(torch.equal(value, resumed[name]) for name, value in whole.items()), f"resumed before step {step}"
