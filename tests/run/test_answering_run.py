"""Runs that answer questions: restarts on two ranks and after a kill, and stories of a user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks, weights
from zoo.cli import main
from zoo.tasks.answering import Answering

TINY = [
    "model=memn2n",
    "data=babi",
    "model.embedding_dim=4",
    "data.sample.train=40",
    "data.sample.val=10",
    "data.sample.test=10",
    "data.replacement=true",
    "data.loader.batch_size=8",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
    "callbacks=checkpoint",
]
RESTARTS = ["task.restarts=3", "task.loss=sum", "task.clip=matrix", "trainer.gradient_clip_val=5"]


def test_two_ranks_make_the_steps_of_one(program_env: dict[str, str], tmp_path: Path) -> None:
    """Restarts, the sum of losses and a bound for each matrix are of the whole batch, however many share it."""
    steps = ["optimizer=sgd", "optimizer.lr=0.01", "optimizer.momentum=0", "scheduler=none", "trainer.max_steps=2"]
    words = [*TINY, *RESTARTS, *steps, "model.time_noise=0"]
    same_on_two_ranks(words, tmp_path, program_env, rtol=1e-5)
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    assert {"restarts.stacked.tables", "network.tables"} <= one.keys()
    errors = [state["restarts._extra_state"] for state in (one, two)]
    assert torch.equal(*errors) and not errors[0].isnan().any()


def test_a_killed_run_goes_on_with_the_weights_of_an_uninterrupted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of the last epoch, of linear start, with restarts: what was counted in it comes along."""
    every = [*TINY, *RESTARTS, "task.linear_start=2", "trainer.max_epochs=2"]
    killed_and_resumed(every, tmp_path, Answering, monkeypatch, 20)
    assert result(tmp_path / "resumed20")["metrics"] == result(tmp_path / "whole")["metrics"]


def test_stories_of_ones_own_are_trained_on_and_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = ["kitchen", "garden", "office"]
    lines = [
        json.dumps(
            {
                "story": [f"Mary went to the {places[n % 3]}.", f"John went to the {places[n // 3 % 3]}."],
                "question": f"Where is {('Mary', 'John')[n % 2]}?",
                "answer": places[(n if n % 2 == 0 else n // 3) % 3],
                "supporting": [n % 2],
            }
        )
        for n in range(90)
    ]
    (tmp_path / "my.jsonl").write_text("\n".join(lines), encoding="utf-8")
    words = ["model=memn2n", "data=stories", "data.path=my.jsonl", "callbacks=checkpoint", "trainer.max_epochs=30"]
    quick = ["trainer.enable_progress_bar=false", "trainer.accelerator=cpu", "data.loader.batch_size=8"]
    assert launch([*words, *quick, "hydra.run.dir=run"], tmp_path) == 0
    assert result(tmp_path / "run")["metrics"]["test/error"] == 0
    capsys.readouterr()
    typed = "John went to the office. Mary went to the garden. Where is Mary?"
    out = [str(tmp_path / name) for name in ("hops.html", "hops.svg")]
    main(["predict", str(tmp_path / "run"), typed, "--json", "--html", out[0], "--attention", out[1]])
    prediction = json.loads(capsys.readouterr().out)
    assert prediction["answer"] == "garden" and len(prediction["hops"]) == 3 and len(prediction["hops"][0]) == 2
    assert "Where is Mary?" in Path(out[0]).read_text(encoding="utf-8") and Path(out[1]).stat().st_size > 0
