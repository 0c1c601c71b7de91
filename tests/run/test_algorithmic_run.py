"""Runs that learn from bits: two ranks, a kill, and patterns of a user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks
from zoo.cli import main
from zoo.tasks.algorithmic import Algorithmic

TINY = [
    "model=ntm",
    "model.memory_size=8",
    "model.memory_width=4",
    "model.controller_dim=8",
    "data=copy_bits",
    "data.length=[1,3]",
    "data.bits=2",
    "data.test_lengths=[3,5]",
    "data.sample.train=40",
    "data.sample.val=10",
    "data.sample.test=6",
    "data.loader.batch_size=8",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
    "callbacks=checkpoint",
]


def test_two_ranks_make_the_steps_of_one(program_env: dict[str, str], tmp_path: Path) -> None:
    """And count the same sequences before the validation that counts as converged."""
    steps = ["optimizer=sgd", "optimizer.lr=0.01", "scheduler=none", "trainer.max_epochs=1", "task.converged=50"]
    assert same_on_two_ranks([*TINY, *steps], tmp_path, program_env)["test/sequences_to_converge"] == 40


def test_a_killed_run_goes_on_with_the_weights_of_an_uninterrupted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = [*TINY, "task.converged=50", "trainer.max_epochs=3"]
    killed_and_resumed(every, tmp_path, Algorithmic, monkeypatch, 7)
    assert result(tmp_path / "resumed7")["metrics"] == result(tmp_path / "whole")["metrics"]
    assert result(tmp_path / "resumed7")["metrics"]["test/sequences_to_converge"] == 40


def test_a_pattern_is_copied_and_the_heads_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert launch([*TINY, "trainer.max_epochs=1", "hydra.run.dir=run"], tmp_path) == 0
    metrics = result(tmp_path / "run")["metrics"]
    assert {"test/error_bits_length3", "test/exact_length5"} <= metrics.keys()
    capsys.readouterr()
    out = [str(tmp_path / name) for name in ("heads.html", "heads.svg")]
    main(["predict", str(tmp_path / "run"), "10 01 11", "--json", "--html", out[0], "--attention", out[1]])
    prediction = json.loads(capsys.readouterr().out)
    assert prediction["truth"] == "10 01 11" and len(prediction["written"].split()) == 3
    assert len(prediction["write"][0]) == 7 and len(prediction["write"][0][0]) == 8
    assert "10 01 11" in Path(out[0]).read_text(encoding="utf-8") and Path(out[1]).stat().st_size > 0
    with pytest.raises(SystemExit):
        main(["predict", str(tmp_path / "run"), "10", "012"])
    assert "error: line 2, '012': vector 1 is '012': expected 2 bits" in capsys.readouterr().err
