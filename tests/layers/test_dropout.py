"""Dropout from 16 random bits per value: shares, scale, gradient, and one mask for all steps of a row."""

import pytest
import torch

from zoo.layers.dropout import dropout, locked_dropout
from zoo.layers.packing import Packing


@pytest.mark.parametrize("p", [0.1, 0.5, 0.65, 0.99])
def test_a_share_is_dropped_and_the_rest_is_scaled(p):
    torch.manual_seed(0)
    x = torch.ones(1001, 999, requires_grad=True)
    y = dropout(x, p, True)
    assert (y == 0).float().mean().item() == pytest.approx(p, abs=0.002)
    scale = y.max().item()
    assert set(y.unique().tolist()) == {0.0, scale}
    assert scale == pytest.approx(1 / (1 - p), rel=1e-3)
    assert y.mean().item() == pytest.approx(1, abs=0.03)
    y.sum().backward()
    assert torch.equal(x.grad, y)
    pairs = torch.stack([y[:, :-1].flatten(), y[:, 1:].flatten()]) == 0  # neighbours are independent
    assert pairs.all(0).float().mean().item() == pytest.approx(p * p, abs=0.003)


def test_nothing_or_everything_is_dropped_at_the_ends():
    x = torch.randn(5, 7, dtype=torch.float64)
    assert dropout(x, 0.5, False) is x
    assert dropout(x, 0.0, True) is x
    assert torch.equal(dropout(x, 1e-9, True), x)
    assert not dropout(x, 1.0, True).any()
    assert dropout(x, 0.5, True).dtype == torch.float64


def test_a_locked_mask_is_equal_at_all_steps_of_a_row_and_not_in_all_rows():
    torch.manual_seed(0)
    mask = torch.arange(6) < torch.tensor([6, 0, 4, 5])[:, None]
    packing = Packing.of(mask)
    found = packing.unpack(locked_dropout(torch.ones(15, 50), packing, 0.5, True))
    for row, real in zip(found, mask, strict=True):
        assert (row[real] == row[0]).all()
    assert not torch.equal(found[0, 0], found[2, 0])
    assert set(found[0, 0].tolist()) == {0.0, 2.0}
