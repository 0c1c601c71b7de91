"""Runs that learn to write by hand, and what they write: with a text and without one."""

import json
from pathlib import Path

import pytest

import zoo
from tests.run.families import QUIET, SGD, UNEVEN
from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks
from zoo.data.strokes.encoding import ToWrite
from zoo.tasks.handwriting import Handwriting

TINY = ["model.hidden_dim=8", "model.mixtures=2", "data=strokes", *UNEVEN, *QUIET, "trainer.max_epochs=1"]
TINY += ["task.written=3", "task.samples=2"]
SEEN = {"nats", "sse", "letter_accuracy", "within_one", "monotone", "lag", "nats_shuffled", "stop_error"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One finished run that reads texts."""
    where = tmp_path_factory.mktemp("writing")
    assert launch(["model=handwriting", *TINY, "model.weight_noise=0.01", "hydra.run.dir=run"], where) == 0
    return where / "run"


def test_result_json_and_pictures(folder: Path) -> None:
    facts = result(folder)
    assert facts["task"] == "handwriting" and {name.removeprefix("test/") for name in facts["metrics"]} == SEEN
    assert set(facts["baselines"]) == {"independent points", "straight line through the text"}
    assert len(facts["offsets"]["scale"]) == 2
    assert (folder / "written.png").is_file() and (folder / "handwriting/test_1.png").is_file()


def test_a_text_is_written_and_a_hand_goes_on(folder: Path, tmp_path: Path, predicted, refusal) -> None:
    words = ("hello", "--points", "9", "--sample", "2", "--out", tmp_path / "a.svg")
    first = predicted(folder, *words)
    assert [len(line["letters"]) <= 9 for line in first.json] == [True, True]
    assert first.json[0]["strokes"] != first.json[1]["strokes"], "each line has a hand of its own"
    assert (tmp_path / "a.svg").read_text("utf-8").startswith("<svg") and "<polyline" in first.page
    assert predicted(folder, *words).json == first.json
    hand = tmp_path / "hand.json"
    hand.write_text(json.dumps(first.json[0]), "utf-8")
    (line,) = predicted(folder, "you", "--prime", hand, "--bias", "1", "--points", "5").json
    assert line["text"] == "hello you" and line["given_points"] == len(first.json[0]["letters"])
    assert line["strokes"][0][1] == pytest.approx(first.json[0]["strokes"][0][1], abs=2e-3)
    hand.write_text('{"strokes": [[[0, 0], [900, 0]]], "text": "you"}', "utf-8")
    assert "hand.json: the given strokes have offsets" in refusal("predict", folder, "you", "--prime", hand).err
    for words, problem in (
        (["zoé"], "'zoé': the training lines had no 'z' 'é'"),
        (["you", "--bias", "-1"], "--bias=-1.0: expected a number from 0 on"),
        (["you", "--out", "a.png"], "expected the name of a file that ends in .svg"),
        (["you", "--sample", "0"], "--sample=0: expected a whole number from 1"),
        (["you", "--prime", "gone.json"], "gone.json: cannot be read"),
    ):
        assert problem in refusal("predict", folder, *words).err


def test_the_checkpoint_alone_writes(folder: Path) -> None:
    predictor = zoo.load(folder / "checkpoints/best.ckpt")
    predictor.task.write_by(points=7)
    plain, careful = predictor(["you", ToWrite("you", bias=3.0)])
    assert plain.points <= 7 and plain.text == careful.text == "you"


def test_lines_without_a_text(tmp_path: Path, predicted, refusal) -> None:
    run = tmp_path / "run"
    assert launch(["model=handwriting_prediction", *TINY, f"hydra.run.dir={run}"], tmp_path) == 0
    assert {name.removeprefix("test/") for name in result(run)["metrics"]} == {"nats", "sse"}
    answers = predicted(run, "--sample", "2", "--points", "12")
    assert [len(line["window"] or ()) for line in answers.json] == [0, 0]
    assert all(sum(map(len, line["strokes"])) == 13 for line in answers.json)
    drawings = [{"word": "cat", "drawing": [[[0, n, 5], [0, 4, n]], [[2, 4], [1, n]]]} for n in range(12)]
    (tmp_path / "cat.ndjson").write_text("\n".join(map(json.dumps, drawings)), "utf-8")
    words = ["data=quickdraw", f"data.path={tmp_path}/cat.ndjson", *TINY[:2], *QUIET, "trainer.max_epochs=1"]
    drawn = tmp_path / "drawn"
    assert launch(["model=handwriting_prediction", *words, f"hydra.run.dir={drawn}"], tmp_path) == 0
    assert "cannot write one; use --sample N" in refusal("predict", drawn, "hello").err
    assert launch(["model=handwriting", *words, f"hydra.run.dir={tmp_path}/refused"], tmp_path) == 2


def test_two_ranks_make_the_steps_and_the_metrics_of_one(tmp_path: Path, program_env: dict[str, str]) -> None:
    words = ["model=handwriting", *TINY, *SGD, "optimizer.lr=0.001", "callbacks=checkpoint"]
    assert {name.removeprefix("test/") for name in same_on_two_ranks(words, tmp_path, program_env, rtol=1e-4)} == SEEN


def test_a_killed_run_with_noisy_weights_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["model=handwriting", *TINY, "model.weight_noise=0.05", "trainer.max_epochs=2", "callbacks=checkpoint"]
    killed_and_resumed(words, tmp_path, Handwriting, monkeypatch, 9)
    assert result(tmp_path / "resumed9")["metrics"] == result(tmp_path / "whole")["metrics"]
