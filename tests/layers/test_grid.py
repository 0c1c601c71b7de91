"""Layers over rows of equal length by torch's kernels for grids, against the loop and against packed rows."""

import pytest
import torch
from torch.func import functional_call

import zoo.layers.recurrent as recurrent
from zoo.layers.elman import Elman
from zoo.layers.packing import Packing
from zoo.layers.recurrent import GRU, LSTM

WHOLE = Packing.of(torch.ones(5, 7, dtype=torch.bool))
SOME = Packing.of(torch.tensor([True, False, True])[:, None].expand(3, 7).clone())


@pytest.fixture
def used(monkeypatch):
    """How often the grid was used."""
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return recurrent_run(*arguments)

    recurrent_run = recurrent.run_grid
    monkeypatch.setattr(recurrent, "run_grid", counted)
    return calls


def results(layer, packing, states, weights=None):
    """Output, states and gradients from the same inputs."""
    torch.manual_seed(1)
    x = torch.randn(len(packing.cell), 4, requires_grad=True)
    states = [state.clone().requires_grad_() for state in states]
    given = tuple(states) if len(states) > 1 else states[0]
    output, final = functional_call(layer, weights or {}, (x, packing, given))
    final = final if isinstance(final, tuple) else (final,)
    total = (output * torch.randn_like(output)).sum() + sum((part * torch.randn_like(part)).sum() for part in final)
    parameters = [*layer.parameters()] if weights is None else [*weights.values()]
    return [output, *final, *torch.autograd.grad(total, [x, *states, *parameters])]


@pytest.mark.parametrize("packing", [WHOLE, SOME], ids=["all rows", "with an empty row"])
@pytest.mark.parametrize("count", [1, 3])
def test_the_grid_is_the_loop(used, packing, count):
    torch.manual_seed(0)
    fast, loop = LSTM(4, 6, num_layers=count), LSTM(4, 6, num_layers=count, kernel="loop")
    loop.load_state_dict(fast.state_dict())
    states = [torch.randn(count, packing.shape[0], 6) for _ in range(2)]
    for one, other in zip(results(fast, packing, states), results(loop, packing, states), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    assert len(used) == 1


def test_the_grid_of_a_simple_layer_is_its_packed_rows(used, monkeypatch):
    torch.manual_seed(0)
    layer, states = Elman(4, 6, num_layers=2), [torch.randn(2, 5, 6)]
    fast = results(layer, WHOLE, states)
    monkeypatch.setattr(recurrent, "is_grid", lambda *_: False)
    for one, other in zip(fast, results(layer, WHOLE, states), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    assert len(used) == 1


@pytest.mark.parametrize(
    ("layer", "packing", "options"),
    [
        (LSTM(4, 6).double(), WHOLE, {}),
        (LSTM(4, 6), Packing.of(torch.arange(7) < torch.tensor([[7], [6]])), {}),
        (LSTM(4, 6, bidirectional=True), WHOLE, {}),
        (GRU(4, 6), WHOLE, {}),
        (LSTM(4, 6), WHOLE, {"at": torch.zeros(35, dtype=torch.long)}),
    ],
    ids=["double", "unequal rows", "two directions", "GRU", "distinct rows"],
)
def test_other_rows_and_layers_do_not_use_it(used, layer, packing, options):
    x = torch.randn(1 if options else len(packing.cell), 4, dtype=layer.weight_ih_l0.dtype)
    layer(x, packing, **options)
    assert not used


@pytest.mark.parametrize("kernel", ["auto", "loop", "torch"])
def test_a_functional_call_replaces_the_weights_in_each_kernel(monkeypatch, kernel):
    if kernel == "torch":
        monkeypatch.setattr(recurrent, "is_grid", lambda *_: False)
    torch.manual_seed(0)
    layer, changed, states = LSTM(4, 6, kernel=kernel), LSTM(4, 6, kernel=kernel), [torch.randn(1, 5, 6)] * 2
    weights = {name: part.detach().clone().requires_grad_() for name, part in layer.named_parameters()}
    for one, other in zip(results(layer, WHOLE, states), results(changed, WHOLE, states, weights), strict=True):
        torch.testing.assert_close(one, other)


def test_dropout_acts_between_layers_only():
    torch.manual_seed(0)
    layer, x = LSTM(4, 6, num_layers=2, dropout=0.5).train(), torch.randn(35, 4)
    plain = layer.eval()(x, WHOLE)
    dropped = layer.train()(x, WHOLE)
    assert torch.allclose(plain[1][0][0], dropped[1][0][0], atol=1e-6)
    assert not torch.allclose(plain[1][0][1], dropped[1][0][1], atol=1e-3)
