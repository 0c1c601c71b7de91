"""Gated convolutions and weight norm against torch's, and the windows of frames."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

from tests.layers.compared import assert_equal
from tests.models.equations import DOUBLE
from zoo.layers.convolution import GatedConvolution, WeightNormLinear, window_index, windows
from zoo.layers.packing import Packing

ROWS = [4, 0, 1, 7, 3, 3]


def packing_of(lengths):
    return Packing.of(torch.arange(max([*lengths, 1])) < torch.tensor(lengths)[:, None])


def ours(convolution, grid, packing, causal):
    index = window_index(packing, convolution.kernel, causal=causal)
    return convolution(windows(packing.pack(grid), index))


def torchs(convolution, grid, packing, causal):
    """Outputs of torch's convolution of each row without padding."""
    kernel, channels = convolution.kernel, grid.shape[-1]
    weight = convolution.weight().view(-1, kernel, channels).transpose(1, 2)
    output = grid.new_zeros(*grid.shape[:2], len(convolution.bias) // 2)
    for row, length in enumerate(ROWS):
        if length:
            before, after = (kernel - 1, 0) if causal else (kernel // 2, kernel // 2)
            frames = F.pad(grid[row, :length].T, (before, after))
            a, b = F.conv1d(frames[None], weight, convolution.bias)[0].T.chunk(2, 1)
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
    assert_equal(*results, grid, convolution, tolerance=1e-12)


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
    assert window_index(packing_of([3]), 4, causal=True).tolist() == [[0, 0, 0, 1], [0, 0, 1, 2], [0, 1, 2, 3]]


def test_no_positions_at_all():
    packing = packing_of([0, 0])
    convolution = GatedConvolution(4, 3, 3)
    output = ours(convolution, torch.randn(*packing.shape, 4), packing, causal=True)
    assert output.shape == (0, 3)
    output.sum().backward()
    assert all((weight.grad == 0).all() for weight in convolution.parameters())  # present, as DDP requires


def normed(theirs, direction, length, bias):
    """One of torch's layers under its weight norm with these parameters, as a function."""
    names = {"parametrizations.weight.original0": length, "parametrizations.weight.original1": direction, "bias": bias}
    return lambda x: torch.func.functional_call(parametrizations.weight_norm(theirs), names, (x,))


@pytest.mark.parametrize("scaled", [False, True])
def test_weight_norm_is_torchs_in_value_and_gradient(scaled):
    torch.manual_seed(0)
    linear = WeightNormLinear(5, 4).to(DOUBLE)
    for parameter in linear.parameters():
        nn.init.normal_(parameter)
    x = torch.randn(2, 3, 5, dtype=DOUBLE, requires_grad=True)
    theirs = normed(nn.Linear(5, 4, dtype=DOUBLE), linear.direction, linear.length[:, None], linear.bias)
    y = linear(x, linear.scale()) if scaled else linear(x)
    assert_equal((y,), (theirs(x),), x, linear, tolerance=1e-12)


def test_a_convolutions_norm_is_of_the_whole_window():
    """torch's weight norm of nn.Conv1d with dim 0: over kernel and input channels of each output unit."""
    torch.manual_seed(0)
    convolution, x = GatedConvolution(3, 2, 5).to(DOUBLE), torch.randn(1, 3, 9, dtype=DOUBLE)
    nn.init.normal_(convolution.length)
    direction = convolution.direction.view(4, 5, 3).transpose(1, 2)
    theirs = normed(nn.Conv1d(3, 4, 5, dtype=DOUBLE), direction, convolution.length[:, None, None], convolution.bias)
    weight = convolution.weight().view(4, 5, 3).transpose(1, 2)
    torch.testing.assert_close(F.conv1d(x, weight, convolution.bias), theirs(x), rtol=1e-10, atol=1e-10)
