"""Hard attention of show, attend and tell: its rule of learning against numbers of the authors' code, what it looks at,
what it learns from, and that its gradient is exact in the mean over all draws."""

import itertools
import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from lightning.pytorch.plugins.precision import HalfPrecision
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from tests.contract import by_steps
from tests.models.cells import ENCODER, batch_of
from tests.models.equations import assert_equal, stacked
from tests.models.test_equations import model_of, rows
from tests.models.test_equations import show_attend_tell as by_loops
from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.errors import ConfigError
from zoo.layers.loops import attention_viewer
from zoo.models import ShowAttendTell, show_attend_tell
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


def hard_model(**options):
    return model_of(by_loops, attention="hard", hard=options, dropout=0.0)


def drawing(monkeypatch, places):
    """Looks draw `places`, a list for each time step, one step after the other."""
    left = iter(places)
    monkeypatch.setattr(attention_viewer, "draw", lambda weights: torch.tensor(next(left)))


class Waits(TorchDispatchMode):
    """Notes what has a size that follows from numbers, for which a device would have to be waited for."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        tensors = [one for arg in args for one in (arg if isinstance(arg, list | tuple) else [arg])]
        boolean = any(isinstance(one, torch.Tensor) and one.dtype == torch.bool for one in tensors)
        if "nonzero" in str(function) or (boolean and "aten.index.Tensor" in str(function)):
            self.seen.append(str(function))
        return function(*args, **(kwargs or {}))


# what is looked at


def test_a_place_is_drawn_for_each_word_in_training(monkeypatch):
    model, batch = hard_model(soft_half=0.0).train(), batch_of()
    torch.manual_seed(5)
    drawn, draw = [], attention_viewer.draw
    monkeypatch.setattr(attention_viewer, "draw", lambda weights: drawn.append(draw(weights)) or drawn[-1])
    output = model(batch)
    places = batch.target_packing.unpack(torch.cat(drawn))  # one draw per step and caption
    expected, weights = stacked(batch, rows(by_loops, model, batch, place=lambda row, t, alpha: int(places[row, t])))
    assert_equal(output.logits, expected)
    assert_equal(output.attention["source"], weights)
    nll = F.cross_entropy(expected, batch.true_tokens, reduction="none")
    cost = torch.stack([nll[batch.target_packing.row == row].mean() for row in range(5)])
    packed = batch.target_packing.pack(weights)
    loss = hard_loss(packed, torch.cat(drawn), cost, torch.tensor(0.0), batch.target_packing.row, Hard())
    assert_equal(output.losses["hard_attention"], loss)
    assert output.losses.keys() == {"hard_attention"}


def test_half_of_the_batches_look_at_the_expected_context():
    """One draw for a whole batch, which holds for all its captions and steps."""
    soft, model, batch = model_of(by_loops, dropout=0.0), hard_model().train(), batch_of()
    expected = soft(batch).logits
    torch.manual_seed(0)
    equal = [torch.equal(model(batch).logits, expected) for _ in range(200)]
    assert 75 < sum(equal) < 125
    certain = hard_model(soft_half=1.0).train()
    assert all(torch.equal(certain(batch).logits, expected) for _ in range(5))
    never = hard_model(soft_half=0.0).train()
    assert not any(torch.equal(never(batch).logits, expected) for _ in range(5))


def test_the_likeliest_place_is_read_in_evaluation():
    model, batch = hard_model(), batch_of()
    output = model(batch)
    expected, weights = stacked(batch, rows(by_loops, model, batch, place=lambda row, t, alpha: int(alpha.argmax())))
    assert_equal(output.logits, expected)
    assert_equal(output.attention["source"], weights)
    assert output.losses == {}
    log_probs, attention = by_steps(model, batch, batch_of(targets=False))
    found = batch.target_packing.pack(log_probs)
    assert_equal(found, expected.log_softmax(-1))
    stepwise = torch.stack(attention["source"], 1) * batch.target_mask[..., None]
    assert_equal(stepwise, weights)


def test_the_expected_context_is_read_where_told():
    batch = batch_of()
    assert torch.equal(hard_model(reading="expected")(batch).logits, model_of(by_loops)(batch).logits)


def test_a_place_is_drawn_in_evaluation_where_told(monkeypatch):
    """By both faces: `forward`, and `step` for each hypothesis by itself."""
    model, batch = hard_model(reading="sample"), batch_of()
    torch.manual_seed(0)
    first, second = model(batch).logits, model(batch).logits
    assert not torch.equal(first, second)
    torch.manual_seed(0)
    assert torch.equal(model(batch).logits, first)
    monkeypatch.setattr(show_attend_tell, "draw", lambda weights: torch.full(weights.shape[:-1], 2))
    monkeypatch.setattr(attention_viewer, "draw", lambda weights: torch.full(weights.shape[:-1], 2))
    expected, _ = stacked(batch, rows(by_loops, model, batch, place=lambda row, t, alpha: 2))
    assert_equal(model(batch).logits, expected)
    found = batch.target_packing.pack(by_steps(model, batch, batch_of(targets=False))[0])
    assert_equal(found, expected.log_softmax(-1))


def test_steps_in_training_look_at_the_expected_context():
    """Scheduled sampling and rewards teach by steps: what they teach has to have a gradient."""
    model, batch = hard_model(soft_half=0.0).train(), batch_of()
    log_probs, _ = by_steps(model, batch, batch_of(targets=False))
    found = batch.target_packing.pack(log_probs)
    assert_equal(found, model_of(by_loops)(batch).logits.log_softmax(-1))
    found[:, 4].sum().backward()
    assert model.v.grad.any()
    assert model.query.weight.grad.any()


# what it learns from


def test_the_baseline_moves_after_use_in_training_alone():
    model, batch = hard_model(soft_half=1.0, entropy=0.0), batch_of()
    model(batch)
    assert model.baseline.value == 0
    model.train()
    costs = []
    for row in range(5):
        nll = F.cross_entropy(model(batch).logits, batch.true_tokens, reduction="none")
        costs.append(nll[batch.target_packing.row == row].mean())
    value = model.baseline.value.item()
    average = torch.stack(costs).mean().item()  # captions of all lengths count equally
    assert value == pytest.approx(average * (1 - 0.9**5), rel=1e-12)


def test_the_baseline_is_what_was_before_the_batch(monkeypatch):
    model, batch = hard_model(soft_half=0.0, entropy=0.0, reward=1.0).train(), batch_of()
    monkeypatch.setattr(attention_viewer, "draw", lambda weights: torch.full(weights.shape[:-1], 2))
    losses = []
    for value in (0.0, 2.0):
        model.baseline.value.fill_(value)
        output = model(batch)
        losses.append(output.losses["hard_attention"])
    log_chance = batch.target_packing.pack(output.attention["source"])[:, 2].log().sum()
    assert_equal(losses[0] - losses[1], 2.0 * log_chance, rtol=1e-10, atol=1e-10)


def test_a_caption_without_a_word_costs_nothing_and_moves_no_baseline():
    """Nor does anything wait for a number of a device: how many captions have a word is known beforehand."""
    model, batch = hard_model(soft_half=1.0).train(), batch_of()
    model(batch)
    value = model.baseline.value.clone()
    model.baseline.value.zero_()
    mask = torch.cat([batch.target_mask, torch.zeros(2, batch.target_mask.shape[1], dtype=torch.bool)])
    target = torch.cat([batch.target, batch.target[:2]])
    more = ImageBatch(
        batch.image, batch.grid, target=target, target_mask=mask, picture=torch.cat([batch.picture, batch.picture[:2]])
    )
    with Waits() as waits:
        assert model(more).losses["hard_attention"].isfinite()
    torch.testing.assert_close(model.baseline.value, value, rtol=1e-12, atol=0)
    assert waits.seen == []


def tiny():
    """Three places, and one caption of three words: 27 ways to look at it."""
    torch.manual_seed(1)
    spec = ImageSpec(channels=2, height=1, width=3, target_size=6, longest_target=3, grid=(1, 3), encoded=True)
    options = {"soft_half": 0.0, "entropy": 0.0, "reward": 1.0, "divide_by": "captions"}
    sizes = {"embedding_dim": 3, "hidden_dim": 4, "attention_dim": 3, "dropout": 0.0}
    model = ShowAttendTell(spec, encoder=ENCODER, attention="hard", hard=options, **sizes).double().train()
    image = 3 * torch.randn(1, 2, 1, 3, dtype=DOUBLE)
    target = torch.tensor([[4, 5, 3]])
    return model, ImageBatch(image, spec.grid, target=target, target_mask=target > 0)


def all_ways(model, batch, baseline, monkeypatch):
    """For each way to look at the caption: its chance, its cost, and the gradient that training takes there."""
    parameters = [part for part in model.parameters() if part.requires_grad]
    for places in itertools.product(range(3), repeat=3):
        model.baseline.value.fill_(baseline)
        drawing(monkeypatch, [[place] for place in places])
        output = model(batch)
        cost = F.cross_entropy(output.logits, batch.true_tokens)  # the task's loss, a mean over words
        chance = output.attention["source"][0, range(3), list(places)].prod()
        gradient = torch.autograd.grad(cost + output.losses["hard_attention"], parameters, retain_graph=True)
        yield chance, cost, torch.cat([part.flatten() for part in gradient])


@pytest.mark.parametrize("baseline", [0.0, 1.7, -4.0])
def test_the_mean_gradient_over_all_draws_is_exact(baseline, monkeypatch):
    """E_s of what training takes = the gradient of E_s[-log p(words | s)], whatever the baseline."""
    model, batch = tiny()
    chances, costs, gradients = zip(*all_ways(model, batch, baseline, monkeypatch), strict=True)
    chance = torch.stack(chances)
    torch.testing.assert_close(chance.sum(), torch.tensor(1.0, dtype=DOUBLE))
    objective = (chance * torch.stack(costs)).sum()
    exact = torch.autograd.grad(objective, [part for part in model.parameters() if part.requires_grad])
    mean = (chance.detach()[:, None] * torch.stack(gradients)).sum(0)
    expected = torch.cat([part.flatten() for part in exact])
    assert expected.norm() > 0.01
    torch.testing.assert_close(mean, expected, rtol=1e-10, atol=1e-12)


# weights


def test_soft_and_hard_attention_begin_from_each_others_weights():
    soft, hard = model_of(by_loops), hard_model()
    names = {name: part.shape for name, part in soft.named_parameters()}
    assert names == {name: part.shape for name, part in hard.named_parameters()}
    hard.train()(batch_of())
    assert hard.baseline.value > 0
    again = model_of(by_loops, attention="hard")
    again.load_state_dict(soft.state_dict())
    assert again.baseline.value == 0
    soft.load_state_dict(hard.state_dict())
    again.load_state_dict(hard.state_dict())
    assert again.baseline.value == hard.baseline.value  # a run that goes on has its own
