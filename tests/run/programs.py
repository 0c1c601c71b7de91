"""Starting train.py as a user does: a process of its own, small sizes, a folder of its own."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from hydra.core.global_hydra import GlobalHydra

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


def run(
    words: list[str], folder: Path, environment: dict[str, str], timeout: int = 240
) -> subprocess.CompletedProcess[str]:
    """The finished program with its output as text."""
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout)


def train(
    overrides: list[str], folder: Path, environment: dict[str, str], expect: int = 0
) -> subprocess.CompletedProcess[str]:
    """`python train.py <overrides>` started in `folder`; fails the test with the program's output on another exit
    code."""
    done = run([sys.executable, str(ROOT / "train.py"), *overrides], folder, environment)
    assert done.returncode == expect, done.stdout[-3000:] + done.stderr[-6000:]
    return done


def launch(overrides: list[str], folder: Path) -> int:
    """The same within this process, for runs with one device: quicker by the imports. The exit code; output as
    usual."""
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
