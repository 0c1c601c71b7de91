"""A family outside whose networks choose what to attend to: a quarter of the frames, or frames and turns."""

import json
from pathlib import Path

import pytest

from tests.commands import forgotten
from tests.outside.test_outside import HERE
from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks
from zoo.cli import main

pytestmark = pytest.mark.usefixtures("own_folder")

TINY = ["data=sounds", "trainer.accelerator=cpu", "trainer.enable_progress_bar=false", "seed=1"]
SOUND = "aaaabbbbcccc"


@pytest.fixture(scope="module", params=["listener", "two_levels"])
def finished(request, tmp_path_factory):
    """A finished run of each network, trained with a penalty on coverage and tested with a beam that counts it."""
    folder = tmp_path_factory.mktemp(request.param)
    words = [f"model={request.param}", "data.sample.train=1500", "trainer.max_epochs=3", "optimizer.lr=0.01"]
    words += ["regularizer=[coverage]", "decoding.coverage_penalty=0.2", "trainer.limit_val_batches=2"]
    with forgotten():
        assert launch([*HERE, *TINY, *words, "hydra.run.dir=run"], folder) == 0
    return request.param, folder / "run"


def columns(name: str, frames: int) -> dict[str, int]:
    """Columns of each attention of a network on so many frames."""
    quarter = -(-frames // 4)
    return {"listener": {"source": quarter}, "two_levels": {"source": frames, "turn": quarter}}[name]


def test_it_trains_and_writes_with_a_beam_and_coverage(finished):
    name, run = finished
    metrics = result(run)["metrics"]
    assert metrics["test/exact_match"] > 0.1  # of two tones or more out of six: chance is below 1 / 30
    # the alignment of the data is one to frames, which only the second network attends to
    assert ("test/attention_recall" in metrics and metrics["test/attention_recall"] is not None) == (name != "listener")
    assert len(list((run / "attention").glob("test_*.png"))) == 4
    assert (run / "predictions.csv").is_file()


def test_predict(finished, tmp_path, capsys):
    name, run = finished
    words = ["predict", run, SOUND, "ddddeee", "--attention", tmp_path / "o.png", "--html", tmp_path / "o.html"]
    main([*map(str, words), "--json", *HERE])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for one, frames in zip(found, (12, 7), strict=True):
        widths = {name: {len(row) for row in rows} for name, rows in one["attention"].items()}
        assert widths == {name: {width} for name, width in columns(name, frames).items()}
        for rows in one["attention"].values():
            assert [sum(row) for row in rows] == pytest.approx([1] * len(rows), abs=1e-5)
    assert {path.name for path in Path(tmp_path).glob("*.png")} == {"o-1.png", "o-2.png"}
    assert SOUND in (tmp_path / "o.html").read_text()


@pytest.mark.parametrize(("name", "objective"), [("listener", "self_critical"), ("two_levels", "scheduled_sampling")])
def test_it_learns_from_a_reward_and_from_its_own_tokens(tmp_path, name, objective):
    words = ["data.sample={train:64,val:8,test:8,seed:1}", "callbacks=none", "trainer.max_epochs=1"]
    assert launch([*HERE, *TINY, *words, f"model={name}", f"objective={objective}"], tmp_path) == 0


SMALL = ["data.sample.train=64", "data.sample.val=9", "data.sample.test=9", "trainer.max_epochs=2"]


def test_a_resumed_run_and_two_ranks_make_the_steps_of_one(program_env, tmp_path, monkeypatch):
    from tiny_listening import Listening

    words = [*HERE, *TINY, *SMALL, "model=listener", "callbacks=none", "regularizer=[coverage]"]
    killed_and_resumed(words, tmp_path, Listening, monkeypatch, 3)
    plain = ["optimizer=sgd", "optimizer.momentum=0", "optimizer.lr=0.1", "scheduler=none"]
    same_on_two_ranks([*words, *plain], tmp_path, program_env)
