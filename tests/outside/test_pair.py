"""An adversarial pair outside the package: two optimisers, whose steps count as one for each batch."""

import json

import pytest
import torch

from tests.outside.test_outside import HERE, say
from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks, weights

pytestmark = pytest.mark.usefixtures("own_folder")

TINY = ["model=pair", "data=rings", "trainer.accelerator=cpu", "trainer.enable_progress_bar=false"]
PLAIN = ["optimizer=sgd", "optimizer.momentum=0", "optimizer@discriminator=sgd", "discriminator.momentum=0"]
PARTS = ("network.generator.", "network.discriminator.")


def moved(folder, other):
    """How far each part is from where it was in the other run."""
    one, two = weights(folder), weights(other)
    return [
        torch.cat([(one[name] - two[name]).flatten() for name in one if name.startswith(part)]).norm().item()
        for part in PARTS
    ]


def test_a_step_is_a_batch_and_the_schedule_comes_to_its_end(tmp_path, capsys):
    """6 batches are an epoch; nothing else has to be set for a pair."""
    words = [*HERE, *TINY, "trainer.max_steps=8", "scheduler=cosine", "hydra.run.dir=run"]
    assert launch(words, tmp_path) == 0
    facts = result(tmp_path / "run")
    assert (facts["steps"], facts["epochs"]) == (8, 2) and facts["rate"]["unit"] == "points/s"
    last = torch.load(tmp_path / "run/checkpoints/last.ckpt", weights_only=True)
    assert last["global_step"] == 8
    assert [state["last_epoch"] for state in last["lr_schedulers"]] == [8, 8]
    rates = [group["lr"] for state in last["optimizer_states"] for group in state["param_groups"]]
    assert rates == pytest.approx([0, 0], abs=1e-9)
    capsys.readouterr()
    assert (tmp_path / "run/val_ring.png").is_file()
    checkpoint = tmp_path / "run/checkpoints/best.ckpt"
    assert json.loads(say(capsys, "predict", checkpoint, "7", "--json", *HERE))["seed"] == "7"
    with pytest.raises(SystemExit):
        say(capsys, "predict", checkpoint, "7", "--attention", tmp_path / "x.png", *HERE)
    assert "--attention: GeneratedView draws no pictures" in capsys.readouterr().err


def test_clipping_and_accumulation_hold_for_each_optimiser(tmp_path):
    """At a rate of 1 a bounded step moves each part by the bound; two batches of a step move as one of both."""
    plain = [*HERE, *TINY, *PLAIN, "scheduler=none", "callbacks=none", "trainer.max_steps=1"]
    still = [*plain, "optimizer.lr=0", "discriminator.lr=0"]
    assert launch([*still, "hydra.run.dir=start"], tmp_path) == 0
    full = [*plain, "optimizer.lr=1", "discriminator.lr=1"]
    assert launch([*full, "trainer.gradient_clip_val=0.01", "hydra.run.dir=clipped"], tmp_path) == 0
    assert moved(tmp_path / "clipped", tmp_path / "start") == pytest.approx([0.01, 0.01], rel=1e-4)
    free = [
        *full,
        "trainer.gradient_clip_val=null",
        "discriminator.lr=1e-9",
    ]  # so that one part does not move the other
    assert launch([*free, "data.loader.batch_size=32", "hydra.run.dir=once"], tmp_path) == 0
    twice = ["trainer.accumulate_grad_batches=2", "data.loader.batch_size=16"]
    assert launch([*free, *twice, "hydra.run.dir=twice"], tmp_path) == 0
    assert result(tmp_path / "twice")["steps"] == 1
    assert moved(tmp_path / "once", tmp_path / "start")[0] > 1e-3
    assert moved(tmp_path / "twice", tmp_path / "once")[0] < 1e-6


def test_the_optimiser_of_a_group_is_checked_like_the_first(tmp_path, capsys):
    for word, message in [
        ("discriminator.lr=-1", "discriminator.lr=-1: expected a number from 0 on, found -1"),
        ("discriminator.lrr=1", "discriminator.lrr: Adam has no such argument; did you mean discriminator.lr?"),
        ("discriminator.lr=fast", "discriminator.lr=fast: expected"),
    ]:
        assert launch([*HERE, *TINY, f"+{word}" if "lrr" in word else word], tmp_path) == 2
        assert f"error: {message}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("callbacks", ["none", "[default,averaging]"])
def test_a_run_resumed_within_an_epoch_gives_the_weights_of_an_uninterrupted_one(tmp_path, monkeypatch, callbacks):
    from tiny_pair import Adversarial

    every = [*HERE, *TINY, f"callbacks={callbacks}", "trainer.max_epochs=2", "scheduler=cosine"]
    killed_and_resumed(every, tmp_path, Adversarial, monkeypatch, 8)


def test_two_ranks_make_the_steps_of_one(program_env, tmp_path):
    rates = ["optimizer.lr=0.1", "discriminator.lr=0.1"]
    steps = [*PLAIN, *rates, "scheduler=none", "callbacks=none", "trainer.max_steps=3"]
    same_on_two_ranks([*HERE, *TINY, *steps], tmp_path, program_env)


def test_data_for_several_tasks_refuse_others(tmp_path, capsys):
    """Rings declare a second task, which nothing here serves."""
    assert launch([*HERE, *TINY, "task=tagging"], tmp_path) == 2
    assert "task=tagging and Rings do not fit: the data are for sparring, outlines" in capsys.readouterr().err
    assert launch([*HERE, "model=looks_back", "data=rings"], tmp_path) == 2
    printed = capsys.readouterr().err
    assert "the data are for sparring, outlines, the model is for tagging" in printed
    assert "For this data: model=pair" in printed
