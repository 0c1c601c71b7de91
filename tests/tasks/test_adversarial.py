"""A generator and a critic: their steps, resume, ranks, and the classifier by which they are judged."""

import json
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from tests.run.programs import killed_and_resumed, launch, result, same_on_two_ranks, saved, weights
from zoo.data.pictures.batch import PictureSpec
from zoo.data.pictures.glyphs import Glyphs
from zoo.tasks.adversarial import Adversarial
from zoo.tasks.judge import Judge

TINY = [
    "model=sagan",
    "data=glyphs",
    "model.noise_dim=8",
    "model.generator_dim=8",
    "model.discriminator_dim=8",
    "data.characters=017",
    "data.sample.train=60",
    "data.sample.val=21",
    "data.sample.test=18",
    "data.loader.batch_size=12",
    "trainer.accelerator=cpu",
    "trainer.enable_progress_bar=false",
    "task.samples=0",
    "task.classifier_steps=5",
]
PARTS = ("network.generator.", "network.discriminator.")


@pytest.mark.parametrize("callbacks", ["none", "[default,averaging]"])
def test_a_run_resumed_within_an_epoch_gives_the_weights_of_an_uninterrupted_one(tmp_path, monkeypatch, callbacks):
    """Both optimisers, the statistics of batch norm, the vectors of spectral norm, and the noise."""
    every = [*TINY, f"callbacks={callbacks}", "trainer.max_epochs=2", "scheduler=cosine", "task.critic_steps=2"]
    killed_and_resumed(every, tmp_path, Adversarial, monkeypatch, 3, 8)


@pytest.mark.slow
def test_two_ranks_make_the_steps_of_one(program_env, tmp_path):
    """Losses, gradients, batch statistics and distances are those of one process."""
    plain = ["optimizer=sgd", "optimizer.momentum=0", "optimizer@critic=sgd", "critic.momentum=0"]
    rates = ["optimizer.lr=0.01", "critic.lr=0.01", "scheduler=none", "callbacks=none", "trainer.max_steps=4"]
    found = same_on_two_ranks([*TINY, *plain, *rates], tmp_path, program_env, rtol=1e-3)
    assert {"test/fd", "test/kid", "test/class_accuracy"} <= found.keys()


def test_the_critic_gets_no_gradient_from_the_generators_step_and_back(tmp_path):
    """At a rate of 0 of one part, only the other part moves."""
    plain = ["optimizer=sgd", "optimizer.momentum=0", "optimizer@critic=sgd", "critic.momentum=0", "scheduler=none"]
    words = [*TINY, *plain, "callbacks=none", "trainer.max_steps=2"]
    runs = {"none": (0, 0), "generator": (0.1, 0), "critic": (0, 0.1)}
    for name, (generator, critic) in runs.items():
        rates = [f"optimizer.lr={generator}", f"critic.lr={critic}"]
        assert launch([*words, *rates, f"hydra.run.dir={name}"], tmp_path) == 0
    start = weights(tmp_path / "none")
    for moving, still in (PARTS, PARTS[::-1]):
        found = weights(tmp_path / ("generator" if moving == PARTS[0] else "critic"))
        changed = {name for name, value in found.items() if not torch.equal(value, start[name])}
        learned = {name for name in changed if name.endswith(("original", "weight", "bias", "gamma"))}
        assert learned and all(name.startswith(moving) for name in learned), still


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_critic_takes_so_many_steps_for_each_of_the_generator(tmp_path, steps):
    """5 batches: the generator moves at the batches 0, n, 2n, ..."""
    words = [*TINY, "callbacks=none", "trainer.max_epochs=1", f"task.critic_steps={steps}", "hydra.run.dir=run"]
    assert launch(words, tmp_path) == 0
    critic, generator = saved(tmp_path / "run")["optimizer_states"]
    counts = [next(iter(state["state"].values()))["step"] for state in (critic, generator)]
    assert counts == [5, -(-5 // steps)] and result(tmp_path / "run")["steps"] == 5


@pytest.mark.parametrize("precision", ["bf16-true", "bf16-mixed"])
def test_both_parts_learn_in_half_precision(tmp_path, precision):
    words = [*TINY, "callbacks=none", "trainer.max_epochs=1", f"trainer.precision={precision}"]
    assert launch([*words, "hydra.run.dir=run"], tmp_path) == 0
    assert all(torch.isfinite(value).all() for value in weights(tmp_path / "run").values())
    assert result(tmp_path / "run")["metrics"].keys() >= {"test/fd", "test/kid", "test/class_accuracy"}


def test_a_run_names_its_classifier_and_an_evaluation_has_the_same(tmp_path):
    """result.json has its accuracy and the hash of its weights; a checkpoint has the weights themselves."""
    run = tmp_path / "run"
    assert launch([*TINY, "trainer.max_epochs=1", "hydra.run.dir=run", "task.samples=4"], tmp_path) == 0
    facts = json.loads((run / "result.json").read_text())
    name = facts["classifier"]
    assert name.startswith("convolutions for classes, accuracy 0.") and name in facts["signatures"]["test/fd"]
    assert (run / "samples.png").is_file() and (run / "val_samples.png").is_file()
    words = [*TINY, "train=false", "ckpt_path=run/checkpoints/best.ckpt", "task.classifier_steps=9"]
    assert launch([*words, "hydra.run.dir=again"], tmp_path) == 0
    again = json.loads((tmp_path / "again" / "result.json").read_text())
    assert again["classifier"] == name and again["metrics"] == facts["metrics"]


class Shown:
    """Data of a few generated pictures."""

    def __init__(self, **options):
        self.data = Glyphs(sample={"train": 300, "val": 60, "test": 5}, characters="0T", **options)
        self.data.prepare_data()
        self.data.setup()


def test_a_classifier_learns_always_the_same():
    data = Shown().data
    judges = [Judge(data.spec) for _ in range(2)]
    for judge in judges:
        assert not judge.trained
        torch.rand(3)
        judge.learn(data, 40)
    assert judges[0].name == judges[1].name and judges[0].accuracy > 0.9
    other = Judge(data.spec)
    other.learn(data, 41)
    assert other.name != judges[0].name


def test_features_have_a_mean_square_of_one():
    data = Shown().data
    judge = Judge(data.spec)
    judge.learn(data, 20)
    image = data.encoder.collate(data.part("val").__getitems__(list(range(60)))).image
    assert judge.features(image).square().mean() == pytest.approx(1, rel=1e-5)


def test_without_classes_the_classifier_learns_mirrorings():
    """1 in 4 is chance; a 7 shows how it was mirrored."""
    data = Glyphs(sample={"train": 300, "val": 60, "test": 5}, characters="7")
    data.prepare_data()
    data.setup()
    spec = PictureSpec(channels=1, height=12, width=12, levels=2)
    judge = Judge(spec)
    judge.learn(data, 60)
    assert "mirrorings" in judge.name and judge.accuracy > 0.9 and judge.classes.out_features == 4


def test_noise_depends_on_the_seed_and_the_picture_alone():
    task = SimpleNamespace(network=nn.Linear(1, 1), seed=3)
    task.network.noise_dim = 5
    noise = Adversarial.noise(task, torch.tensor([4, 9]))
    assert torch.equal(noise[1:], Adversarial.noise(task, torch.tensor([9]))) and not torch.equal(noise[0], noise[1])
    assert not torch.equal(noise, Adversarial.noise(task, torch.tensor([4, 9]), 1))
    many = Adversarial.noise(task, torch.arange(2000))
    assert abs(many.mean()) < 0.03 and many.std() == pytest.approx(1, abs=0.03)
