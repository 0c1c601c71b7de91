"""The common part of tasks of generation, on pictures: training, decoding and scoring do not depend on the source."""

from dataclasses import replace

import pytest
import torch

from tests.tasks.regions import KINDS, REGIONS, SEVERAL, SPEC, naming, pictures
from tests.tasks.running import loader, logged, trainer
from tests.tasks.test_translation import batch as pairs
from tests.tasks.test_translation import task as translation
from zoo.decoding import BeamSearch, Greedy, Sampling

COVERAGE = {"coverage": {"_target_": "zoo.objectives.CoverageLoss", "weight": 0.02}}


def share_of_right_words(hypotheses, references, batch):
    both = zip(hypotheses, references, strict=True)
    return [sum(map(int.__eq__, ours, theirs)) / max(len(ours), len(theirs), 1) for ours, theirs in both]


@pytest.fixture(scope="module")
def trained():
    """A task that was fitted, validated and tested by Lightning, and what it logged."""
    torch.manual_seed(0)
    kinds = torch.randint(-1, KINDS, (256, REGIONS)).tolist()
    batches = loader(*(pictures(kinds[i : i + 64]) for i in range(0, 256, 64)))
    task = naming(
        decoding={"_target_": "zoo.decoding.BeamSearch", "beam_size": 3, "coverage_penalty": 0.1}, regularizer=COVERAGE
    )
    made = trainer(max_epochs=50, check_val_every_n_epoch=25, num_sanity_val_steps=0)
    made.fit(task, batches, batches)
    metrics = dict(made.callback_metrics)
    made.test(task, loader(SEVERAL), verbose=False)
    return task.eval(), {name: value.item() for name, value in {**metrics, **made.callback_metrics}.items()}


def test_it_learns_by_cross_entropy_and_coverage_and_is_scored(trained):
    _, found = trained
    assert found["train/loss"] == pytest.approx(found["train/cross_entropy"] + 0.02 * found["train/coverage"], rel=0.01)
    assert found["train/cross_entropy"] < 0.05
    assert found["val/perplexity"] < 1.05 and found["test/free_running_perplexity"] < 1.05
    assert found["val/exact_match"] > 0.95 and found["test/exact_match"] == 1
    assert found["test/attention_recall"] > 0.9 > 0.6 > found["test/attention_chance"]


@pytest.mark.parametrize(
    "decode",
    [Greedy(), BeamSearch(beam_size=3, coverage_penalty=0.1), Sampling(samples=2, temperature=0.05)],
    ids=lambda decode: type(decode).__name__,
)
def test_every_way_of_decoding_names_the_regions(trained, decode):
    task, _ = trained
    for b, hypotheses in enumerate(decode(task.network, SEVERAL, SPEC)):
        there = SEVERAL.memory_mask[b]
        for hypothesis in hypotheses:
            assert hypothesis.ids == tuple(SEVERAL.target[b][SEVERAL.target_mask[b]].tolist())
            assert hypothesis.finished
            looked = hypothesis.alignment  # columns are the regions that there are, though one before them be missing
            assert looked.shape == (len(hypothesis.ids), int(there.sum()))
            assert looked[:-1].argmax(1).tolist() == list(range(int(there.sum())))


@torch.no_grad()
def test_the_coverage_penalty_counts_the_regions_that_there_are():
    network = naming().network.eval()
    search = BeamSearch(beam_size=4, nbest=4, coverage_penalty=0.3, max_length=(0.0, 2))
    for b, hypotheses in enumerate(search(network, SEVERAL, SPEC)):
        for hypothesis in hypotheses:
            missed = hypothesis.alignment.sum(0).clamp(max=1).log().sum().item()
            assert hypothesis.score == pytest.approx(hypothesis.log_prob + 0.3 * missed, rel=1e-5)
            assert missed < -0.1 or SEVERAL.memory_mask[b].sum() < 3  # two words cannot cover three regions


@torch.no_grad()
def test_lengths_are_measured_by_what_the_batch_says(trained):
    """By the picture, not by its regions."""
    task, _ = trained
    for decode in (Greedy, BeamSearch, Sampling):
        found = decode(min_length=(3.0, 0), max_length=(2.0, 1))(task.network, SEVERAL, SPEC)
        assert {len(hypothesis.ids) for hypotheses in found for hypothesis in hypotheses} == {3}


@pytest.mark.parametrize("objective", ["Reinforce", "SelfCritical"])
def test_it_learns_from_a_reward(monkeypatch, objective):
    reward = {"_target_": "hydra.utils.get_method", "path": f"{__name__}.share_of_right_words"}
    task = naming({"_target_": f"zoo.objectives.{objective}", "reward": reward, "samples": 8, "weight": 1.0})
    found = logged(task, monkeypatch)
    optimizer, rewards = torch.optim.Adam(task.parameters(), lr=0.02), []
    for _ in range(60):
        optimizer.zero_grad()
        task.training_step(SEVERAL, 0).backward()
        optimizer.step()
        rewards.append(found["train/reward"].item())
    assert sum(rewards[-5:]) / 5 > 0.4 + sum(rewards[:5]) / 5


def test_a_reward_may_look_at_the_examples(monkeypatch):
    seen = []

    def reward(hypotheses, references, batch):
        seen.append((len(hypotheses), batch))
        return [0.0] * len(hypotheses)

    group = {"_target_": "zoo.objectives.SentenceBLEU"}
    task = naming({"_target_": "zoo.objectives.Reinforce", "reward": group, "samples": 3, "weight": 1.0})
    task.objective.reward = reward
    logged(task, monkeypatch)
    task.training_step(SEVERAL, 0)
    assert [(count, batch is SEVERAL) for count, batch in seen] == [(3 * len(SEVERAL), True)]


@pytest.mark.parametrize("objective", ["CrossEntropy", "Reinforce"])
def test_losses_of_the_networks_own_are_added_and_logged(monkeypatch, objective):
    """As of a network whose places of attention are drawn, or whose experts are to be used evenly."""
    options = {"reward": {"_target_": "zoo.objectives.SentenceBLEU"}} if objective == "Reinforce" else {}
    task = naming({"_target_": f"zoo.objectives.{objective}", **options}).eval()
    found, scale = logged(task, monkeypatch), torch.nn.Parameter(torch.tensor(2.0))
    task.network.scale = scale
    torch.manual_seed(1)
    without = task.training_step(SEVERAL, 0).item(), found["train/loss"].item()
    forward = type(task.network).forward
    monkeypatch.setattr(
        type(task.network),
        "forward",
        lambda self, *given, **options: replace(forward(self, *given, **options), losses={"balance": 3 * self.scale}),
    )
    torch.manual_seed(1)
    loss = task.training_step(SEVERAL, 0)
    loss.backward()
    assert (loss.item(), found["train/loss"].item()) == pytest.approx([one + 6 for one in without])
    assert found["train/balance"] == 6 and scale.grad == 3


@pytest.mark.parametrize("objective", ["ScheduledSampling", "SoftFeedback"])
def test_it_learns_from_its_own_words(monkeypatch, objective):
    task = naming({"_target_": f"zoo.objectives.{objective}", "decay": "constant", "k": 0.5})
    found = logged(task, monkeypatch)
    task.training_step(SEVERAL, 0).backward()
    assert all(parameter.grad.isfinite().all() for parameter in task.network.parameters())
    assert found["train/loss"].isfinite()


def test_two_terms_of_one_kind_are_logged_by_their_names_and_both_counted(monkeypatch):
    """By hand: sum over positions of (tau - attention received)^2, a mean over examples, twice."""
    made = translation(
        {
            "coverage": {"_target_": "zoo.objectives.CoverageLoss", "weight": 0.5, "tau": None},
            "doubly_stochastic": {"_target_": "zoo.objectives.CoverageLoss", "weight": 0.25, "tau": 1.0},
            "none": None,
        },
        label_smoothing=0.1,
    ).eval()
    found, one = logged(made, monkeypatch), pairs(range(5))
    loss = made.training_step(one, 0)
    attended = made(one).attention["source"].sum(1)
    sizes = [(int(s), int(t)) for s, t in zip(one.source_mask.sum(1), one.target_mask.sum(1), strict=True)]
    even = sum(((t / s - attended[b, :s]) ** 2).sum().item() for b, (s, t) in enumerate(sizes)) / 5
    ones = sum(((1 - attended[b, :s]) ** 2).sum().item() for b, (s, _) in enumerate(sizes)) / 5
    assert abs(even - ones) > 0.03
    assert found["train/coverage"].item() == pytest.approx(even, rel=1e-5)
    assert found["train/doubly_stochastic"].item() == pytest.approx(ones, rel=1e-5)
    expected = found["train/cross_entropy"].item() + 0.5 * even + 0.25 * ones
    assert found["train/nll"] != found["train/cross_entropy"]  # with smoothed labels
    assert found["train/loss"].item() == pytest.approx(expected, rel=1e-5)
    assert loss.item() == pytest.approx(expected, rel=1e-5)
