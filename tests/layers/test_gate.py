"""The gate of two stacks, against its definition and numbers worked by hand."""

from math import log, tanh

import pytest
import torch

from zoo.layers.gate import Gate, gate, plain

SIZE = torch.Size((3, 2))
WIDER = {"of the map's size": (3, 2), "with further rows": (4, 2), "with further columns": (3, 5)}


def random(*shape):
    return torch.randn(shape, dtype=torch.double, requires_grad=True)


@pytest.mark.parametrize("shape", WIDER.values(), ids=list(WIDER))
@pytest.mark.parametrize("linked", [False, True])
def test_the_fast_gate_is_its_definition(shape, linked):
    torch.manual_seed(0)
    inputs = random(2, 6, *shape), random(2, 6, 4, 2) if linked else None
    given, slope = [one for one in inputs if one is not None], torch.randn(2, 3, *SIZE, dtype=torch.double)
    found, expected = Gate(SIZE)(*inputs), plain(inputs[0], SIZE, inputs[1])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-15)
    gradients = (torch.autograd.grad(y, given, slope) for y in (found, expected))
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-14)


def test_the_first_row_reads_nothing_above():
    """tanh(1) sigmoid(log 3) = 3/4 tanh(1); one row below, 1 + 1 and log 3 - log 3 give tanh(2) / 2."""
    x = torch.tensor([1.0, log(3)])[None, :, None, None].expand(1, 2, 2, 1)
    above = torch.tensor([1.0, -log(3)])[None, :, None, None].expand(1, 2, 2, 1)
    found = gate(x, torch.Size((2, 1)), above)
    torch.testing.assert_close(found, torch.tensor([0.75 * tanh(1), tanh(2) / 2])[None, None, :, None])


def test_the_inputs_stay_as_they_are():
    inputs = random(1, 4, 3, 2).detach(), random(1, 4, 3, 2).detach()
    before = [one.clone() for one in inputs]
    gate(inputs[0], SIZE, inputs[1])
    assert all(map(torch.equal, inputs, before))
