"""Runs that learn to point: two ranks, a kill with a critic beside the network, and points of a user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks, train, weights
from zoo.cli import main
from zoo.tasks.pointing import Pointing

TINY = [
    "model.embedding_dim=8",
    "model.hidden_dim=8",
    "data.size=[4,6]",
    "data.test_sizes=[4,7]",
    "data.sample.train=40",
    "data.sample.val=10",
    "data.sample.test=6",
    "data.loader.batch_size=8",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
    "callbacks=checkpoint",
]
HULLS = ["model=pointer_net", "data=convex_hull", *TINY]
ALONE = [
    "model=neural_combinatorial",
    "data=tsp",
    "data.solve=false",
    "objective=reinforce_critic",
    "objective.critic.hidden_dim=8",
    "objective.critic.embedding_dim=8",
    "task.monitor=val/length",
    *TINY,
]


def test_two_ranks_make_the_steps_of_one(program_env: dict[str, str], tmp_path: Path) -> None:
    steps = ["optimizer=sgd", "optimizer.lr=0.1", "scheduler=none", "trainer.max_epochs=1"]
    found = same_on_two_ranks([*HULLS, *steps], tmp_path, program_env)
    assert {"test/accuracy_n4", "test/non_simple_n7"} <= found.keys()


def test_two_ranks_learn_tours_from_their_length_beside_a_critic(program_env: dict[str, str], tmp_path: Path) -> None:
    train([*ALONE, "trainer.max_epochs=1", "trainer=ddp_cpu", "hydra.run.dir=two"], tmp_path, program_env)
    metrics = result(tmp_path / "two")["metrics"]
    assert metrics["test/invalid"] == 0 and metrics["test/ratio_n4"] >= 1
    found = {name: value for name, value in weights(tmp_path / "two").items() if name.startswith("objective.critic.")}
    assert found and all(value.isfinite().all() for value in found.values())


def test_a_killed_run_with_a_critic_goes_on_with_the_weights_of_an_uninterrupted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_and_resumed([*ALONE, "trainer.max_epochs=3"], tmp_path, Pointing, monkeypatch, 7)
    assert any(name.startswith("objective.critic.") for name in weights(tmp_path / "resumed7"))
    assert result(tmp_path / "resumed7")["metrics"] == result(tmp_path / "whole")["metrics"]


def test_the_hull_of_a_table_of_points_is_printed_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = [*HULLS, "task.constraint=hull", "trainer.max_epochs=1", "hydra.run.dir=run"]
    assert launch(run, tmp_path) == 0
    table = tmp_path / "points.csv"
    table.write_text("x,y\n0,0\n400,0\n400,300\n0,300\n200,100\n", encoding="utf-8")
    capsys.readouterr()
    out = [str(tmp_path / name) for name in ("hull.html", "hull.svg")]
    main(["predict", str(tmp_path / "run"), str(table), "--json", "--html", out[0], "--attention", out[1]])
    prediction = json.loads(capsys.readouterr().out)
    (answer,) = prediction["answers"]
    assert prediction["points"][2] == [400, 300] and len(answer["numbers"]) >= 3
    assert len(answer["attention"]) == len(answer["numbers"]) + 1 and len(answer["attention"][0]) == 6
    assert "hull of 5 points" in Path(out[0]).read_text(encoding="utf-8") and Path(out[1]).stat().st_size > 0
    table.write_text("x,y\n0,0\n400,zero\n400,300\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["predict", str(tmp_path / "run"), str(table)])
    assert "points.csv, line 3: text in a column of numbers" in capsys.readouterr().err
