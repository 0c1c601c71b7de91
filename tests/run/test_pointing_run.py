"""Runs that learn to point: two ranks with a critic beside the network, and points of a user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run.families import HULLS, TOURS
from tests.run.programs import launch, result, train, weights
from zoo.cli import main


def test_two_ranks_learn_tours_from_their_length_beside_a_critic(program_env: dict[str, str], tmp_path: Path) -> None:
    train([*TOURS, "trainer.max_epochs=1", "trainer=ddp_cpu", "hydra.run.dir=two"], tmp_path, program_env)
    metrics = result(tmp_path / "two")["metrics"]
    assert metrics["test/invalid"] == 0 and metrics["test/ratio_n4"] >= 1
    found = {name: value for name, value in weights(tmp_path / "two").items() if name.startswith("objective.critic.")}
    assert found and all(value.isfinite().all() for value in found.values())


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
