"""Gated convolutions over packed rows against torch's convolution of each row alone, weight norm against torch's."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

from tests.layers.compared import assert_equal
from zoo.layers.packing import Packing
from zoo.models.conv_s2s import GatedConvolution, WeightNormLinear, window_index, windows

DOUBLE = torch.float64
ROWS = [4, 0, 1, 7, 3, 3]


def packing_of(lengths):
    return Packing.of(torch.arange(max([*lengths, 1])) < torch.tensor(lengths)[:, None])


def ours(convolution, grid, packing, causal):
    index = window_index(packing, convolution.kernel, causal=causal)
    return convolution(windows(packing.pack(grid), index))


def torchs(convolution, grid, packing, causal):
    """Outputs of nn.Conv1d on each row without padding."""
    kernel, channels = convolution.kernel, grid.shape[-1]
    plain = nn.Conv1d(channels, len(convolution.bias), kernel, dtype=grid.dtype)
    plain.weight = nn.Parameter(convolution.weight().detach().view(-1, kernel, channels).transpose(1, 2))
    plain.bias = nn.Parameter(convolution.bias.detach())
    output = grid.new_zeros(*grid.shape[:2], len(plain.bias) // 2)
    for row, length in enumerate(ROWS):
        if length:
            before, after = (kernel - 1, 0) if causal else (kernel // 2, kernel // 2)
            frames = F.pad(grid[row, :length].T, (before, after))
            a, b = plain(frames[None])[0].T.chunk(2, 1)
            output[row, :length] = a * b.sigmoid()
    return packing.pack(output)


@pytest.mark.parametrize(("kernel", "causal"), [(1, False), (3, False), (5, False), (1, True), (2, True), (5, True)])
def test_equals_torchs_convolution_of_each_row_alone(kernel, causal):
    torch.manual_seed(0)
    packing = packing_of(ROWS)
    convolution = GatedConvolution(4, 3, kernel).to(DOUBLE)
    nn.init.normal_(convolution.bias)
    grid = torch.randn(*packing.shape, 4, dtype=DOUBLE, requires_grad=True)  # padding is not read
    results = [(run(convolution, grid, packing, causal),) for run in (ours, torchs)]
    assert_equal(*results, grid, tolerance=1e-12)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(1, 7), st.booleans())
def test_a_window_holds_its_own_rows_frames_in_order_and_zeros_elsewhere(lengths, kernel, causal):
    kernel += not causal and kernel % 2 == 0
    packing = packing_of(lengths)
    grid = 1 + torch.arange(packing.shape[0] * packing.shape[1]).view(packing.shape)  # every frame another number
    found = windows(packing.pack(grid)[:, None], window_index(packing, kernel, causal=causal))
    before = kernel - 1 if causal else kernel // 2
    for cell, window in zip(packing.cell.tolist(), found.tolist(), strict=True):
        row, time = divmod(cell, packing.shape[1])
        steps = range(time - before, time - before + kernel)
        assert window == [int(grid[row, step]) if 0 <= step < lengths[row] else 0 for step in steps]


def test_a_centred_window_of_even_size_has_no_middle():
    with pytest.raises(ValueError, match="odd number of frames, got 4"):
        window_index(packing_of([3]), 4, causal=False)
    assert window_index(packing_of([3]), 4, causal=True).tolist() == [[3, 3, 3, 0], [3, 3, 0, 1], [3, 0, 1, 2]]


def test_no_positions_at_all():
    packing = packing_of([0, 0])
    convolution = GatedConvolution(4, 3, 3)
    output = ours(convolution, torch.randn(*packing.shape, 4), packing, causal=True)
    assert output.shape == (0, 3)
    output.sum().backward()
    assert all((weight.grad == 0).all() for weight in convolution.parameters())  # present, as DDP requires


def as_torchs(linear):
    """torch's weight norm of nn.Linear with the weights of ours."""
    theirs = parametrizations.weight_norm(nn.Linear(linear.direction.shape[1], len(linear.bias), dtype=DOUBLE))
    length, direction = theirs.parametrizations.weight.original0, theirs.parametrizations.weight.original1
    with torch.no_grad():
        direction.copy_(linear.direction)
        length.copy_(linear.length[:, None])
        theirs.bias.copy_(linear.bias)
    return theirs, [direction, length, theirs.bias]


@pytest.mark.parametrize("scaled", [False, True])
def test_weight_norm_is_torchs_in_value_and_gradient(scaled):
    torch.manual_seed(0)
    linear = WeightNormLinear(5, 4).to(DOUBLE)
    for parameter in linear.parameters():
        nn.init.normal_(parameter)
    theirs, parameters = as_torchs(linear)
    x = torch.randn(2, 3, 5, dtype=DOUBLE, requires_grad=True)
    y = linear(x, linear.scale()) if scaled else linear(x)
    torch.testing.assert_close(y, theirs(x), rtol=1e-12, atol=1e-12)
    weight = torch.randn_like(y)
    found = torch.autograd.grad((y * weight).sum(), [x, *linear.parameters()])
    expected = torch.autograd.grad((theirs(x) * weight).sum(), [x, *parameters])
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.flatten(), other.flatten(), rtol=1e-12, atol=1e-12)


def test_a_convolutions_norm_is_of_the_whole_window():
    """torch's weight norm of nn.Conv1d with dim 0: over kernel and input channels of each output unit."""
    torch.manual_seed(0)
    convolution = GatedConvolution(3, 2, 5).to(DOUBLE)
    nn.init.normal_(convolution.length)
    theirs = parametrizations.weight_norm(nn.Conv1d(3, 4, 5, dtype=DOUBLE))
    with torch.no_grad():
        theirs.parametrizations.weight.original1.copy_(convolution.direction.view(4, 5, 3).transpose(1, 2))
        theirs.parametrizations.weight.original0.copy_(convolution.length[:, None, None])
    torch.testing.assert_close(convolution.weight().view(4, 5, 3).transpose(1, 2), theirs.weight)


def test_worked_numbers():
    linear = WeightNormLinear(2, 2).to(DOUBLE)
    with torch.no_grad():
        linear.direction.copy_(torch.tensor([[3.0, 4.0], [0.0, 2.0]]))
        linear.length.copy_(torch.tensor([10.0, 1.0]))
        linear.bias.copy_(torch.tensor([0.5, 0.0]))
    assert linear.scale().tolist() == [2.0, 0.5]
    assert linear.weight().tolist() == [[6.0, 8.0], [0.0, 1.0]]
    assert linear(torch.tensor([[1.0, 1.0]], dtype=DOUBLE)).tolist() == [[14.5, 1.0]]


def test_at_the_start_the_weights_are_normal_and_the_lengths_theirs():
    torch.manual_seed(0)
    for module, deviation in (
        (WeightNormLinear(256, 400), 1 / 16),
        (GatedConvolution(100, 200, 4, gain=2.0), 0.005**0.5),
    ):
        torch.testing.assert_close(module.weight(), module.direction)
        assert (module.bias == 0).all()
        weight = module.weight().detach()
        assert abs(float(weight.std()) / deviation - 1) < 0.02
        assert abs(float(weight.mean())) < 0.02 * deviation
