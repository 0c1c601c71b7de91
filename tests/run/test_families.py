"""Runs of every family: two ranks make the steps of one process, a kill changes nothing, and inputs of a user's own are
answered. Captions, trees and translations have files of their own."""

import json
from pathlib import Path

import pytest
import torch

from tests.run.families import ALGORITHMIC, HULLS, KILLED, QUIET, TOURS, TWO_RANKS
from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks, train, weights
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


def test_two_ranks_learn_tours_from_their_length_beside_a_critic(program_env: dict[str, str], tmp_path: Path) -> None:
    train([*TOURS, "trainer.max_epochs=1", "trainer=ddp_cpu", "hydra.run.dir=two"], tmp_path, program_env)
    metrics = result(tmp_path / "two")["metrics"]
    assert metrics["test/invalid"] == 0 and metrics["test/ratio_n4"] >= 1
    found = {name: value for name, value in weights(tmp_path / "two").items() if name.startswith("objective.critic.")}
    assert found and all(value.isfinite().all() for value in found.values())


def test_a_pattern_is_copied_and_the_heads_are_drawn(tmp_path: Path, predicted, refusal) -> None:
    run = tmp_path / "run"
    assert launch([*ALGORITHMIC, "trainer.max_epochs=1", f"hydra.run.dir={run}"], tmp_path) == 0
    assert {"test/error_bits_length3", "test/exact_length5"} <= result(run)["metrics"].keys()
    answers = predicted(run, "10 01 11")
    (prediction,) = answers.json
    assert prediction["truth"] == "10 01 11" and len(prediction["written"].split()) == 3
    assert len(prediction["write"][0]) == 7 and len(prediction["write"][0][0]) == 8
    assert "10 01 11" in answers.page and (tmp_path / "look.png").stat().st_size > 0
    assert "error: line 2, '012': vector 1 is '012': expected 2 bits" in refusal("predict", run, "10", "012").err


def test_stories_of_ones_own_are_trained_on_and_asked_about(tmp_path: Path, predicted) -> None:
    places, went, run = ["kitchen", "garden", "office"], ["went", "moved", "ran"], tmp_path / "run"
    stories = [
        {
            "story": [
                f"Mary {went[n // 9 % 3]} to the {places[n % 3]}.",
                f"John {went[n // 27 % 3]} to the {places[n // 3 % 3]}.",
            ],
            "question": f"Where is {('Mary', 'John')[n % 2]}?",
            "answer": places[(n if n % 2 == 0 else n // 3) % 3],
            "supporting": [n % 2],
        }
        for n in range(81)
    ]
    (tmp_path / "my.jsonl").write_text("\n".join(map(json.dumps, stories)), encoding="utf-8")
    words = ["model=memn2n", "data=stories", "data.path=my.jsonl", "callbacks=checkpoint", "trainer.max_epochs=30"]
    assert launch([*words, *QUIET, "data.loader.batch_size=8", f"hydra.run.dir={run}"], tmp_path) == 0
    assert result(run)["metrics"]["test/error"] == 0
    answers = predicted(run, "John went to the office. Mary went to the garden. Where is Mary?")
    (prediction,) = answers.json
    assert prediction["answer"] == "garden" and len(prediction["hops"]) == 3 and len(prediction["hops"][0]) == 2
    assert "Where is Mary?" in answers.page and (tmp_path / "look.png").stat().st_size > 0


def test_the_hull_of_a_table_of_points_is_printed_and_drawn(tmp_path: Path, predicted, refusal) -> None:
    run, table = tmp_path / "run", tmp_path / "points.csv"
    assert launch([*HULLS, "task.constraint=hull", "trainer.max_epochs=1", f"hydra.run.dir={run}"], tmp_path) == 0
    table.write_text("x,y\n0,0\n400,0\n400,300\n0,300\n200,100\n", encoding="utf-8")
    answers = predicted(run, table)
    (prediction,) = answers.json
    (answer,) = prediction["answers"]
    assert prediction["points"][2] == [400, 300] and len(answer["numbers"]) >= 3
    assert len(answer["attention"]) == len(answer["numbers"]) + 1 and len(answer["attention"][0]) == 6
    assert "hull of 5 points" in answers.page and (tmp_path / "look.png").stat().st_size > 0
    table.write_text("x,y\n0,0\n400,zero\n400,300\n", encoding="utf-8")
    assert "points.csv, line 3: text in a column of numbers" in refusal("predict", run, table).err
