"""AdaGrad with groups by name against torch's and against sums worked by hand."""

import copy

import pytest
import torch
from torch import nn

from zoo.errors import ConfigError
from zoo.optimizers.adagrad import Adagrad


def network():
    torch.manual_seed(0)
    return nn.ModuleDict({"embedding": nn.Embedding(5, 3), "head": nn.Linear(3, 2)})


def steps(model, optimizer, count=3):
    for k in range(count):
        optimizer.zero_grad()
        loss = model["head"](model["embedding"](torch.tensor([k, 1]))).square().sum()
        loss.backward()
        optimizer.step()


def test_a_closure_clears_the_gradients_of_all_groups():
    """A closure like Lightning's, which calls forward, zero_grad and backward."""
    outside, inside = network(), network()
    groups = {"embedding": {"lr": 0.5, "plain": True}}
    steps(outside, Adagrad(outside.named_parameters(), lr=0.1, groups=groups))
    optimizer = Adagrad(inside.named_parameters(), lr=0.1, groups=groups)
    for k in range(3):

        def closure(k=k):
            loss = inside["head"](inside["embedding"](torch.tensor([k, 1]))).square().sum()
            optimizer.zero_grad()
            loss.backward()
            return loss

        assert optimizer.step(closure) is not None
    for one, other in zip(inside.parameters(), outside.parameters(), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("part", "name", "gradient"),
    [
        ("embedding", "weight", torch.tensor([[0.0] * 3, [0.0, 0.0, 2.0], *[[0.0] * 3] * 3])),
        ("embedding", "weight", torch.tensor([[0.0] * 3, [2.0, -2.0, 0.0], *[[0.0] * 3] * 3])),  # its sum is 0
        ("head", "bias", torch.tensor([0.0, 2.0])),  # the rows of a vector are its numbers
    ],
)
def test_row_decay_is_of_rows_that_have_a_gradient(part, name, gradient):
    model = network()
    parameter = getattr(model[part], name)
    expected = parameter.detach().clone()
    expected[1] -= gradient[1] + 0.5 * expected[1]
    parameter.grad = gradient.clone()
    Adagrad(model.named_parameters(), groups={part: {"plain": True, "lr": 1.0, "row_decay": 0.5}}).step()
    torch.testing.assert_close(parameter.detach(), expected)


def test_eps_is_added_to_the_root():
    weight = nn.Parameter(torch.tensor([1.0]))
    optimizer = Adagrad([("weight", weight)], lr=0.1, eps=1.0)
    weight.grad = torch.tensor([3.0])
    optimizer.step()
    assert weight.item() == pytest.approx(1 - 0.1 * 3 / (3 + 1))


def test_a_plain_group_keeps_no_sums():
    model = network()
    optimizer = Adagrad(model.named_parameters(), groups={"embedding": {"plain": True}})
    steps(model, optimizer)
    assert set(optimizer.state) == set(model["head"].parameters())


def test_a_scaler_unscales_before_our_rules_read_the_gradients():
    plain, scaled = network(), network()
    groups = {"embedding": {"plain": True, "lr": 0.1}}
    steps(plain, Adagrad(plain.named_parameters(), lr=0.1, groups=groups), count=1)
    optimizer, scaler = Adagrad(scaled.named_parameters(), lr=0.1, groups=groups), torch.amp.GradScaler("cpu")
    scaler.scale(scaled["head"](scaled["embedding"](torch.tensor([0, 1]))).square().sum()).backward()
    scaler.step(optimizer)
    for one, other in zip(plain.parameters(), scaled.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_what_this_machine_can_do_does_not_come_from_a_checkpoint():
    state = Adagrad(network().named_parameters(), fused=True).state_dict()
    other = Adagrad(network().named_parameters(), fused=False)
    other.load_state_dict(state)
    assert [group["fused"] for group in other.param_groups] == [None]


@pytest.mark.parametrize(("fused", "tolerance"), [(False, 0.0), (True, 1e-6)])
def test_without_groups_it_is_torchs(fused, tolerance):
    ours, theirs = network(), network()
    steps(ours, Adagrad(ours.named_parameters(), lr=0.1, weight_decay=0.01, fused=fused))
    steps(theirs, torch.optim.Adagrad(theirs.parameters(), lr=0.1, weight_decay=0.01))
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


def test_a_group_has_its_own_rate_decay_and_rule():
    ours, theirs = network(), network()
    groups = {"embedding": {"lr": 0.5, "plain": True, "weight_decay": 0.2}}
    steps(ours, Adagrad(ours.named_parameters(), lr=0.1, weight_decay=0.01, groups=groups))
    both = [
        torch.optim.SGD(theirs["embedding"].parameters(), lr=0.5, weight_decay=0.2),
        torch.optim.Adagrad(theirs["head"].parameters(), lr=0.1, weight_decay=0.01),
    ]

    class Both:
        def zero_grad(self):
            theirs.zero_grad()

        def step(self):
            for optimizer in both:
                optimizer.step()

    steps(theirs, Both())
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-7)


def test_it_forgets_when_an_epoch_begins_and_was_asked_to():
    weight = nn.Parameter(torch.tensor([1.0]))
    for forget, expected in ((True, 0.8), (False, 1 - 0.1 - 0.1 * 3 / 5)):
        weight.data.fill_(1.0)
        optimizer = Adagrad([("weight", weight)], lr=0.1, forget=forget)
        for gradient in (4.0, 3.0):  # 0.1 * 4 / 4, then 0.1 * 3 / 3, or 0.1 * 3 / 5
            optimizer.start_epoch()
            weight.grad = torch.tensor([gradient])
            optimizer.step()
        assert weight.item() == pytest.approx(expected)


def test_its_state_goes_on():
    ours = network()
    optimizer = Adagrad(ours.named_parameters(), lr=0.1, groups={"embedding": {"plain": True}})
    steps(ours, optimizer)
    again = copy.deepcopy(ours)
    other = Adagrad(again.named_parameters(), lr=0.1, groups={"embedding": {"plain": True}})
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for model, one in ((ours, optimizer), (again, other)):
        steps(model, one)
    for one, two in zip(ours.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, two)


def test_what_is_not_there_is_named():
    with pytest.raises(ConfigError, match=r"optimizer.groups.tensor: no weight .* available: embedding, head"):
        Adagrad(network().named_parameters(), groups={"tensor": {"lr": 1.0}})
    with pytest.raises(ConfigError, match=r"optimizer.groups.head.wight_decay: .*weight_decay"):
        Adagrad(network().named_parameters(), groups={"head": {"wight_decay": 1.0}})


@pytest.mark.parametrize(("key", "value"), [("lr", "fast"), ("lr", -0.1), ("row_decay", -1.0), ("plain", "perhaps")])
def test_a_wrong_value_in_a_group_is_named(key, value):
    with pytest.raises(ConfigError, match=rf"optimizer.groups.embedding.{key}={value}"):
        Adagrad(network().named_parameters(), groups={"embedding": {key: value}})
