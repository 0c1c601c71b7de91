"""Learning tours from their length: the reward by hand, data without targets, and a critic that learns beside the
network."""

from dataclasses import replace
from itertools import permutations
from math import sqrt

import pytest
import torch
from torch import nn

import zoo.objectives.policy_gradient as module
from tests.tasks.points import exactly, spec_of
from zoo.data.points.constraints import Tour
from zoo.decoding.constraint import Constrained
from zoo.errors import ConfigError
from zoo.models import PointerNet
from zoo.objectives import Reinforce, ReinforceCritic, TourLength

SPEC = spec_of("tour")
SETS = [[[0.1, 0.2], [0.9, 0.1], [0.8, 0.9], [0.2, 0.6]], [[0.5, 0.5], [0.1, 0.9], [0.3, 0.3], [0.9, 0.6]]]
TOURS = list(permutations(range(4)))


def constrained(seed=0):
    torch.manual_seed(seed)
    network = PointerNet(SPEC, embedding_dim=6, hidden_dim=6).double()
    for parameter in network.parameters():
        nn.init.normal_(parameter, 0.0, 0.8)  # so that it cares for where the points are
    return Constrained(network, Tour())


class Mean(nn.Module):
    """A critic: a length for each set, linear in the mean of its points."""

    def __init__(self, spec):
        super().__init__()
        self.output = nn.Linear(spec.width, 1).double()

    def forward(self, batch):
        return self.output(batch.points.mean(1)).squeeze(1)


def with_critic(**options):
    objective = ReinforceCritic(reward=TourLength(), critic=Mean, **options)
    objective.build(SPEC)
    return objective


# the reward


def test_the_reward_reads_pointers_as_the_data_write_them():
    """The first point of these data is token 5, not 3."""
    reward = TourLength()
    reward.check(replace(SPEC, first=5))
    batch = exactly([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert reward([[5, 6, 7, 8], [3, 4, 5, 6]], [[], []], batch) == pytest.approx([-4, -4 * sqrt(2)])


def test_the_reward_is_minus_the_length_of_a_tour():
    square, line = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [[0.0, 0.0], [0.5, 0.0], [0.25, 0.0]]
    batch = exactly(square, line)
    hypotheses = [[3, 4, 5, 6], [3, 5, 4, 6], [5, 3, 4], [3, 4, 5]]
    expected = [-4, -2 - 2 * sqrt(2), -1, -1]
    assert TourLength()(hypotheses, [], batch) == pytest.approx(expected)


@pytest.mark.parametrize("tokens", [[], [3, 4, 5], [3, 4, 5, 5], [3, 4, 5, 6, 3], [3, 4, 5, 7], [4, 5, 6, 2]])
def test_what_is_no_tour_earns_less_than_any(tokens):
    (reward,) = TourLength()([tokens], [], exactly(SETS[0]))
    assert reward == pytest.approx(-4 * sqrt(2))
    assert reward < min(TourLength()([[3 + i for i in tour] for tour in TOURS], [], exactly(SETS[0])))


# without targets


def test_samples_are_as_long_as_the_largest_set_its_end_and_extra(monkeypatch):
    batch, bounds, sampling = exactly(SETS[0], SETS[1][:3]), [], module.Sampling
    seen = []

    def reward(hypotheses, references, batch):
        seen.append(references)
        return [0.0] * len(hypotheses)

    def noted(*, samples, max_length):
        bounds.append(max_length)
        return sampling(samples=samples, max_length=max_length)

    monkeypatch.setattr(module, "Sampling", noted)
    for extra in (0, 1, 9):
        objective = Reinforce(reward=reward, weight=1.0, samples=2, extra=extra)
        objective(constrained().network, batch, spec=SPEC, step=0, need_weights=False)
    assert bounds == [(0, 5), (0, 6), (0, SPEC.longest_target)]
    assert seen == 3 * [[[], [], [], []]]


@pytest.mark.parametrize(
    ("weight", "need_weights", "message"),
    [(0.5, False, "objective.weight=0.5: these data have no targets"), (1.0, True, "regularizer: these data have no")],
)
def test_what_needs_targets_says_so(weight, need_weights, message):
    objective = Reinforce(reward=TourLength(), weight=weight, samples=2)
    with pytest.raises(ConfigError, match=message):
        objective(constrained(), exactly(*SETS), spec=SPEC, step=0, need_weights=need_weights)


# the critic


def test_the_critic_learns_and_its_gradient_stays_its_own():
    torch.manual_seed(0)
    network, batch, objective = constrained(), exactly(*SETS), with_critic(samples=3, critic_weight=0.5)
    loss = objective(network, batch, spec=SPEC, step=0, need_weights=False)
    earned, critic = loss.terms
    assert (earned.name, earned.weight, earned.count) == ("reinforce", 1.0, 6)
    assert (critic.name, critic.weight, critic.count) == ("critic", 0.5, 6)
    own, others = list(objective.critic.parameters()), list(network.network.parameters())
    assert all(g is None for g in torch.autograd.grad(critic.total, others, allow_unused=True, retain_graph=True))
    assert all(g is None for g in torch.autograd.grad(earned.total, own, allow_unused=True, retain_graph=True))
    assert all(g.abs().sum() > 0 for g in torch.autograd.grad(critic.total, own, retain_graph=True))
    assert loss.logs["baseline"].item() == pytest.approx(-objective.critic(batch).mean().item())
    assert not any(value.requires_grad for value in loss.logs.values())


def test_the_squared_error_is_that_of_each_sample():
    network, batch, objective = constrained(), exactly(SETS[0]), with_critic()
    loss = objective(network, batch, spec=SPEC, step=0, need_weights=False)
    error = objective.critic(batch).item() + loss.logs["reward"].item()
    assert loss.terms[1].total.item() == pytest.approx(error**2)
    assert abs(error) > 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [(dict(critic_weight=0.0), "critic_weight=0.0"), (dict(critic=Mean(SPEC)), "expected what makes the critic")],
)
def test_options_that_make_no_sense_raise(options, message):
    with pytest.raises(ConfigError, match=message):
        ReinforceCritic(**{"reward": TourLength(), "critic": Mean, **options})
