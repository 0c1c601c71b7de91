"""A language model outside the package: its state is carried, reset, saved for each rank, and continued exactly."""

import csv
import json
import math

import pytest
import torch

import zoo
from tests.commands import forgotten
from tests.outside.test_outside import HERE, say
from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks, train_ranks, weights

pytestmark = pytest.mark.usefixtures("own_folder")

TINY = [
    "model=char_lstm",
    "data=tales",
    "model.hidden_dim=6",
    "data.sample.train=20",
    "data.sample.val=9",
    "data.sample.test=9",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stream")
    with forgotten():
        assert launch([*HERE, *TINY, "trainer.max_epochs=2", "hydra.run.dir=run"], folder) == 0
    return folder / "run"


def test_what_a_run_leaves(finished):
    """The test is one long pass over the text; rates and tables are in characters and continue, too."""
    from tiny_stream import tale

    facts = result(finished)
    assert facts["rate"]["unit"] == "characters/s" and facts["rate"]["value"] > facts["examples_per_second"] > 0
    task, text = zoo.load(finished).task, tale(9, seed=5)
    batch = task.encoder([text])
    with torch.no_grad():
        bits = [columns(task, batch, facts)]
    assert facts["metrics"]["test/bits_per_character"] == pytest.approx(float(bits[0].mean()), rel=1e-4)
    rows = list(csv.reader((finished / "predictions.csv").open()))[1:]
    found = {int(row[0]): float(row[-1]) for row in rows}
    assert len(found) > 3 and max(found) > 1
    for number, value in found.items():
        window = bits[0][16 * number : 16 * number + 16]
        assert value == pytest.approx(float(window.mean()), rel=1e-3), f"window {number} was read without its state"


def columns(task, batch, facts):
    """(T,) bits of each character, the text being read in the columns of the test: 8 rows, each from its beginning."""
    windows = facts["sizes"]["test"]
    length = 16 * -(-windows // 8)
    bits = []
    for at in range(0, batch.read.shape[1], length):
        parts = (part[:, at : at + length] for part in (batch.read, batch.target, batch.mask))
        bits.append(task.surprisal(type(batch)(*parts, batch.index))[0] / math.log(2))
    return torch.cat(bits)


def test_predict(finished, capsys):
    checkpoint = finished / "checkpoints" / "best.ckpt"
    lines = say(capsys, "predict", checkpoint, "the fox", "a hen", "the fox", "--json", *HERE).splitlines()
    first, _, again = (json.loads(line) for line in lines)
    assert first["text"] == "the fox" and len(first["written"]) == 20 and first == again


def test_a_run_resumed_within_an_epoch_gives_the_weights_of_an_uninterrupted_one(tmp_path, monkeypatch):
    """In the first and in the second epoch of 4 steps, with validations within an epoch."""
    from tiny_stream import LanguageModelling

    every = [*HERE, *TINY, "callbacks=none", "trainer.max_epochs=2", "trainer.val_check_interval=2"]
    killed_and_resumed(every, tmp_path, LanguageModelling, monkeypatch, 3, 6)
    for step in (3, 6):
        (state,) = torch.load(tmp_path / f"killed{step}/checkpoints/last.ckpt", weights_only=True)["zoo"]["remembered"]
        assert {name: len(part) for name, part in state["carried"].items()} == {"hidden": 8, "cell": 8}
    last = torch.load(tmp_path / "whole/checkpoints/last.ckpt", weights_only=True)
    assert "remembered" not in last["zoo"]  # an epoch starts without a state


def test_two_ranks_carry_a_state_each(program_env, tmp_path):
    """They make the weights and metrics of one process. Resumed within an epoch, each continues from its own state."""
    steps = ["callbacks=none", "trainer.max_steps=5", "optimizer=sgd", "optimizer.lr=0.5", "scheduler=none"]
    words = [*HERE, *TINY, *steps]
    same_on_two_ranks(words, tmp_path, program_env)
    states = torch.load(tmp_path / "two/checkpoints/last.ckpt", weights_only=True)["zoo"]["remembered"]
    one, other = (state["carried"]["hidden"] for state in states)
    assert one.shape == other.shape == (4, 6) and not torch.equal(one, other)
    train_ranks([*words, "trainer.max_steps=2", "hydra.run.dir=begun"], tmp_path, program_env)
    train_ranks([*words, "ckpt_path=begun/checkpoints/last.ckpt", "hydra.run.dir=resumed"], tmp_path, program_env)
    whole, resumed = weights(tmp_path / "two"), weights(tmp_path / "resumed")
    assert all(torch.equal(resumed[name], weight) for name, weight in whole.items())


def test_another_number_of_processes(program_env, tmp_path, capsys):
    steps = ["callbacks=none", "trainer.max_steps=3", "scheduler=none"]
    train_ranks([*HERE, *TINY, *steps, "hydra.run.dir=two"], tmp_path, program_env)
    more = [*HERE, *TINY, "callbacks=none", "scheduler=none", "trainer.max_steps=5", "ckpt_path=two"]
    assert launch([*more, "hydra.run.dir=one"], tmp_path) == 2
    printed = capsys.readouterr().err
    assert "holds the state of 2 processes (carried), and this run has 1: use trainer.devices=2" in printed


def test_data_that_are_not_a_stream_are_refused(tmp_path, monkeypatch, capsys):
    from tiny_stream import Tales

    monkeypatch.setattr(Tales, "continues", False)
    assert launch([*HERE, *TINY], tmp_path) == 2
    assert "error: CharLSTM carries a state from batch to batch, and the batches of Tales" in capsys.readouterr().err
