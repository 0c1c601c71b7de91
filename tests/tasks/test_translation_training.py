"""Translation in training and validation: the loss, the state of objectives, greedy decoding, attention by chance."""

from dataclasses import replace

import pytest
import torch

from tests.tasks.running import figures, loader, logged, trainer
from tests.tasks.test_translation import MODEL, SPEC, batch, task
from zoo.decoding import Greedy
from zoo.objectives import CrossEntropy
from zoo.run.checkpoint import load

LUONG = {"_target_": "zoo.models.luong.Luong", "embedding_dim": 5, "hidden_dim": 4, "num_layers": 1}


def test_every_parameter_belongs_to_the_network():
    """No gradient would reach a parameter outside of it."""
    assert {name.partition(".")[0] for name, _ in task().named_parameters()} == {"network"}


class Spy(CrossEntropy):
    """Cross-entropy that stores the steps that it receives."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def __call__(self, network, batch, *, spec, step, need_weights):
        self.steps.append(step)
        return super().__call__(network, batch, spec=spec, step=step, need_weights=need_weights)


def test_an_objective_is_told_the_optimisers_step_also_after_a_resumption_and_is_not_asked_outside_training(tmp_path):
    """Two batches make a step."""

    def fit(epochs, **options):
        made, translation = trainer(tmp_path, max_epochs=epochs, accumulate_grad_batches=2), task()
        translation.objective = Spy(steps)
        batches = loader(*(batch([row]) for row in range(4)))
        made.fit(translation, batches, batches, **options)
        return made

    steps = []
    fit(1).save_checkpoint(tmp_path / "one.ckpt")
    assert steps == [0, 0, 1, 1]
    fit(2, ckpt_path=tmp_path / "one.ckpt")
    assert steps[4:] == [2, 2, 3, 3]


def test_what_an_objective_remembers_travels_and_trains_with_the_network(tmp_path):
    """The moving average of a resumed run goes on, moves with the network, and a network that predicts does without."""

    def fit(epochs, **options):
        learning = task(objective="Reinforce", reward={"_target_": "zoo.objectives.SentenceBLEU"}, **average)
        made = trainer(tmp_path, max_epochs=epochs)
        made.fit(learning, loader(*(batch([row]) for row in range(4))), **options)
        return made, learning.objective

    average = {"baseline": "moving_average", "samples": 2}
    made, first = fit(1)
    made.save_checkpoint(tmp_path / "one.ckpt")
    assert first.counted.item() == pytest.approx(1 - 0.99**4)  # batches
    assert fit(2, ckpt_path=tmp_path / "one.ckpt")[1].counted.item() == pytest.approx(1 - 0.99**8)
    kept = torch.load(tmp_path / "one.ckpt", weights_only=True)
    assert kept["state_dict"]["objective.counted"] == first.counted
    predicting = task(**average, objective="Reinforce", reward={"_target_": "zoo.objectives.SentenceBLEU"})
    assert {b.device.type for b in predicting.to("meta").objective.buffers()} == {"meta"}
    assert load(tmp_path / "one.ckpt").task.network is not None


@pytest.mark.parametrize(("one", "other"), [("moving_average", None), (None, "moving_average")])
def test_what_an_objective_remembers_is_left_behind_by_another(one, other):
    def made(baseline):
        if baseline is None:
            return task()
        return task(objective="Reinforce", reward={"_target_": "zoo.objectives.SentenceBLEU"}, baseline=baseline)

    first, second = made(one), made(other)
    for parameter in first.network.parameters():
        torch.nn.init.uniform_(parameter)
    checkpoint = {"state_dict": first.state_dict()}
    first.on_save_checkpoint(checkpoint)
    second.on_load_checkpoint(checkpoint)
    second.load_state_dict(checkpoint["state_dict"])
    for name, parameter in second.network.named_parameters():
        assert torch.equal(parameter, first.network.get_parameter(name))


@pytest.mark.parametrize("search", ["BeamSearch", "Sampling"])
@torch.no_grad()
def test_validation_decodes_greedily_and_the_test_as_configured(monkeypatch, search):
    translation = task(decoding={"_target_": f"zoo.decoding.{search}", "max_length": [0.0, 5.0]}).eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in translation.network.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    logged(translation, monkeypatch)
    one, seen = batch(range(5)), {}
    monkeypatch.setattr(translation, "score_written", lambda stage, _, found: seen.update({stage: found}))
    translation.validation_step(one, 0)
    torch.manual_seed(0)
    translation.test_step(one, 0)
    torch.manual_seed(0)
    expected = {"val": Greedy(max_length=(0.0, 5.0)), "test": translation.decode}
    for stage, decode in expected.items():
        assert [best.ids for best in seen[stage]] == [best.ids for best, *_ in decode(translation.network, one, SPEC)]
    assert [best.ids for best in seen["val"]] != [best.ids for best in seen["test"]]  # else this could not tell


@pytest.mark.parametrize(("model", "ends_seen"), [(LUONG, 0), (MODEL, 1)], ids=["luong", "rnnsearch"])
def test_chance_is_equal_weights_on_what_the_network_may_attend(monkeypatch, model, ends_seen):
    """`ein mann rennt .` -> `a man runs .` has 4 links, `hund .` -> `dog .` has 2: word by word, the ends have none.
    Luong's decoder does not see the source's end."""
    links = torch.zeros(2, 5, 5, dtype=torch.bool)
    links[0, range(4), range(4)] = True
    links[1, range(2), range(2)] = True
    found = figures(task(model=model), monkeypatch, batch([0, 2], links), stage="val")
    assert found["attention_chance"] == pytest.approx((4 / (4 + ends_seen) + 2 / (2 + ends_seen)) / 6)


# the loss of a task of generation


@pytest.mark.parametrize("objective", ["CrossEntropy", "Reinforce"])
def test_losses_of_the_networks_own_are_added_and_logged(monkeypatch, objective):
    """As of a network whose places of attention are drawn, or whose experts are to be used evenly."""
    options = {"reward": {"_target_": "zoo.objectives.SentenceBLEU"}} if objective == "Reinforce" else {}
    made = task(objective=objective, **options).eval()
    found, scale, one = logged(made, monkeypatch), torch.nn.Parameter(torch.tensor(2.0)), batch(range(5))
    made.network.scale = scale
    torch.manual_seed(1)
    without = made.training_step(one, 0).item(), found["train/loss"].item()
    forward = type(made.network).forward
    monkeypatch.setattr(
        type(made.network),
        "forward",
        lambda self, *given, **options: replace(forward(self, *given, **options), losses={"balance": 3 * self.scale}),
    )
    torch.manual_seed(1)
    loss = made.training_step(one, 0)
    loss.backward()
    assert (loss.item(), found["train/loss"].item()) == pytest.approx([before + 6 for before in without])
    assert found["train/balance"] == 6 and scale.grad == 3


def test_two_terms_of_one_kind_are_logged_by_their_names_and_both_counted(monkeypatch):
    """By hand: sum over positions of (tau - attention received)^2, a mean over examples, twice."""
    coverage = {"_target_": "zoo.objectives.CoverageLoss"}
    terms = {"coverage": coverage | {"weight": 0.5, "tau": None}, "none": None}
    made = task(terms | {"doubly_stochastic": coverage | {"weight": 0.25, "tau": 1.0}}, label_smoothing=0.1).eval()
    found, one = logged(made, monkeypatch), batch(range(5))
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
    assert found["train/loss"].item() == loss.item() == pytest.approx(expected, rel=1e-5)
