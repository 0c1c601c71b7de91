"""Runs of every family: two ranks make the steps of one process, and a kill changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.run.families import KILLED, TWO_RANKS
from tests.run.programs import killed_and_resumed, result, same_on_two_ranks, weights
from zoo.dotted import class_at
from zoo.run.compose import compose
from zoo.tasks import Task


@pytest.mark.parametrize("family", TWO_RANKS)
def test_two_ranks_make_the_steps_and_the_metrics_of_one(
    family: str, program_env: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which are of the whole split: 11 examples are 6 on one rank and 5 on the other."""
    run = TWO_RANKS[family]
    found = same_on_two_ranks(run.overrides, tmp_path, program_env, rtol=run.rtol)
    assert run.metric in found and run.value in (None, found[run.metric])
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    if family == "answering":  # restarts are counted on both ranks
        assert {"restarts.stacked.tables", "network.tables"} <= one.keys()
        errors = [state["restarts._extra_state"] for state in (one, two)]
        assert torch.equal(*errors) and not errors[0].isnan().any()
    if family == "captioning":
        assert "zoo predict one/checkpoints/best.ckpt image.jpg\n" in capsys.readouterr().out
    assert (tmp_path / "two/reranking.npz").is_file() == (family == "cloze")  # one process fits it


@pytest.mark.parametrize("family", KILLED)
def test_a_killed_run_goes_on_with_the_weights_of_an_uninterrupted_one(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides, *steps = KILLED[family]
    task = class_at(compose(overrides).task._target_, Task)
    killed_and_resumed(overrides, tmp_path, task, monkeypatch, *steps)
    metrics = result(tmp_path / "whole")["metrics"]
    assert all(result(tmp_path / f"resumed{step}")["metrics"] == metrics for step in steps)
    if family == "algorithmic":
        assert metrics["test/sequences_to_converge"] == 40
    if family == "pointing":
        assert any(name.startswith("objective.critic.") for name in weights(tmp_path / "resumed7"))
