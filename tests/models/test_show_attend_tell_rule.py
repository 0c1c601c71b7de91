"""Hard attention's rule of learning against numbers of the authors' code, its mean against an exact gradient."""

import json
from pathlib import Path

import pytest
import torch
from lightning.pytorch.plugins.precision import HalfPrecision
from torch import nn

from zoo.errors import ConfigError
from zoo.models.show_attend_tell import Baseline, Hard, hard_loss, is_hard

DOUBLE = torch.float64
KNOWN = json.loads((Path(__file__).parent / "hard_attention_rule.json").read_text())
"""Computed apart from this code from what the authors' Theano code puts on alpha: T = 4 words of B = 3 captions, S = 5
places, all of them drawn."""


def known(name):
    return torch.tensor(KNOWN[name], dtype=None if name == "sampled" else DOUBLE)


def known_loss(energy, baseline, hard, rows=None):
    """The loss of those words in the order in which they are packed, time step by time step; of captions `rows`."""
    rows = list(range(3)) if rows is None else rows
    weights = energy.softmax(-1)[:, rows]
    cost = known("cost")[:, rows].mean(0)  # a caption's is the mean over its words
    row = torch.arange(len(rows)).repeat(4)
    loss = hard_loss(weights.flatten(0, 1), known("sampled")[:, rows].flatten(), cost, baseline, row, hard)
    return loss, weights


def test_equals_the_authors_code():
    energy, hard = known("energy").requires_grad_(), Hard()
    assert hard.entropy == KNOWN["entropy_c"]
    loss, weights = known_loss(energy, known("baseline"), hard)
    torch.testing.assert_close(weights, known("alpha"), rtol=0, atol=1e-14)
    torch.testing.assert_close(loss, known("surrogate"), rtol=0, atol=1e-14)
    by_weights, by_energy = torch.autograd.grad(loss, [weights, energy])
    torch.testing.assert_close(by_weights, known("grad_alpha"), rtol=0, atol=1e-14)
    torch.testing.assert_close(by_energy, known("grad_energy"), rtol=0, atol=1e-14)


def test_the_gradient_worked_out():
    """(cost_b - b) / 10 s / alpha + 0.002 (log alpha + 1): up where a costly place was drawn, in words of the paper."""
    weights = torch.tensor([[0.2, 0.8], [0.5, 0.5]], dtype=DOUBLE, requires_grad=True)
    cost, baseline = torch.tensor([3.0, 1.0], dtype=DOUBLE), torch.tensor(2.0)
    loss = hard_loss(weights, torch.tensor([1, 0]), cost, baseline, torch.tensor([0, 1]), Hard())
    (found,) = torch.autograd.grad(loss, weights)
    spread = 0.002 * (weights.detach().log() + 1)
    reward = torch.tensor([[0.0, 0.1 * (3 - 2) / 0.8], [0.1 * (1 - 2) / 0.5, 0.0]], dtype=DOUBLE)
    torch.testing.assert_close(found, reward + spread, rtol=0, atol=1e-15)


def test_baseline_moves_after_use():
    baseline = Baseline(Hard().baseline_decay).double()
    baseline.value.fill_(KNOWN["baseline"])
    baseline.update(known("cost").mean(0))
    torch.testing.assert_close(baseline.value, known("baseline_next"), rtol=0, atol=1e-14)


def test_baseline_begins_at_zero_and_forgets():
    baseline = Baseline(0.5)
    for cost in (4.0, 2.0):
        baseline.update(torch.full((3,), cost, requires_grad=True))
    assert baseline.value.item() == 0.5 * (0.5 * 4.0) + 0.5 * 2.0
    assert not baseline.value.requires_grad
    baseline.update(torch.empty(0))
    assert baseline.value.item() == 2.0
    none = Baseline(Hard(baseline_decay=1).baseline_decay)
    none.update(torch.ones(3))
    assert none.value.item() == 0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_baseline_is_float32_whatever_the_weights_are(dtype):
    network = nn.Sequential(nn.Linear(2, 2), Baseline(0.99))
    network[1].value.fill_(1.0)
    network.to(dtype)
    assert network[0].weight.dtype == dtype
    assert network[1].value.dtype == torch.float32
    assert network[1].state_dict().keys() == {"value"}
    network[1].update(torch.full((5,), 1.125, dtype=dtype))
    assert network[1].value.item() == pytest.approx(1.00125, abs=1e-6)  # bfloat16 has nothing between 1 and 1.0078
    network.double()
    assert network[1].value.dtype == DOUBLE


def test_baseline_is_float32_where_a_run_has_weights_of_half_precision():
    """trainer.precision=bf16-true builds the network so: what is made there is bfloat16 from the start."""
    precision = HalfPrecision("bf16-true")
    with precision.module_init_context():
        network = nn.Sequential(nn.Linear(2, 2), Baseline(0.99))
    network = precision.convert_module(network)
    assert (network[0].weight.dtype, network[1].value.dtype) == (torch.bfloat16, torch.float32)


def test_without_a_draw_reward_has_no_part():
    energy = known("energy").requires_grad_()
    cost, row = known("cost").mean(0), torch.arange(3).repeat(4)
    only_reward = hard_loss(energy.softmax(-1).flatten(0, 1), None, cost, torch.tensor(0.0), row, Hard(entropy=0.0))
    assert only_reward.item() == 0
    spread = hard_loss(energy.softmax(-1).flatten(0, 1), None, cost, torch.tensor(0.0), row, Hard(entropy=1.0))
    weights = energy.softmax(-1)
    torch.testing.assert_close(spread, (weights * weights.log()).sum())


@pytest.mark.parametrize(("divide_by", "divisor"), [("nothing", 1), ("captions", 2), ("words", 8)])
def test_what_it_is_divided_by(divide_by, divisor):
    whole, _ = known_loss(known("energy"), torch.tensor(0.0), Hard(), rows=[0, 2])
    found, _ = known_loss(known("energy"), torch.tensor(0.0), Hard(divide_by=divide_by), rows=[0, 2])
    torch.testing.assert_close(found, whole / divisor, rtol=1e-14, atol=0)


def test_weights_of_zero_have_a_gradient():
    energy = torch.tensor([[200.0, -200.0, 0.0]], requires_grad=True)
    weights = energy.softmax(-1)
    assert (weights == 0).any()
    loss = hard_loss(weights, torch.tensor([0]), torch.ones(1), torch.tensor(0.0), torch.tensor([0]), Hard())
    (found,) = torch.autograd.grad(loss, energy)
    assert loss.isfinite()
    assert found.isfinite().all()


def test_no_captions():
    loss = hard_loss(
        torch.empty(0, 3), torch.empty(0).long(), torch.empty(0), torch.tensor(0.0), torch.empty(0).long(), Hard()
    )
    assert loss.item() == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rewrad": 1.0}, "rewrad: unknown key; did you mean reward?"),
        ({"reward": -1}, "reward=-1: expected a number from 0 on, found -1"),
        ({"reward": True}, "reward=true: expected a number from 0 on, found true"),
        ({"entropy": "much"}, "entropy=much: expected a number from 0 on, found 'much'"),
        ({"baseline_decay": 1.1}, "baseline_decay=1.1: expected a number from 0 to 1"),
        ({"soft_half": 1.5}, "soft_half=1.5: expected a number from 0 to 1"),
        ({"reading": "likelist"}, "reading=likelist: expected likeliest, sample or expected.*did you mean 'likeliest'"),
        ({"divide_by": "batch"}, "divide_by=batch: expected nothing, captions or words"),
    ],
)
def test_what_cannot_be_is_named(options, said):
    with pytest.raises(ConfigError, match=f"^{said}"):
        Hard.of(options)
    with pytest.raises(ValueError, match=f"^hard: {said}"):
        is_hard(options)


def test_options_of_a_configuration():
    assert Hard.of(None) == Hard() == Hard.of({})
    assert Hard.of({"reward": 1, "reading": "sample"}) == Hard(reward=1, reading="sample")
    assert is_hard({"soft_half": 0.0})
