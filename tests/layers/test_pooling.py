"""Pooling of packed rows against slow loops over the rows."""

from typing import get_args

import pytest
import torch

from zoo.layers.packing import Packing
from zoo.layers.pooling import AttentionPooling, MaxPooling, MeanPooling, Pooling, pooling

MASK = torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]]).bool()


@pytest.fixture
def grid():
    return torch.randn(4, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def rows(grid):
    return [grid[r][MASK[r]] for r in range(len(MASK))]


def test_mean(grid):
    packing = Packing.of(MASK)
    vectors, weights = MeanPooling()(packing.pack(grid), packing)
    for r, row in enumerate(rows(grid)):
        torch.testing.assert_close(vectors[r], row.mean(0) if len(row) else torch.zeros(3, dtype=torch.float64))
    assert weights.sum(1).tolist() == pytest.approx([1, 0, 1, 1])
    assert (weights[~MASK] == 0).all()


def test_max_including_rows_below_zero(grid):
    packing = Packing.of(MASK)
    below = grid - 10
    vectors, weights = MaxPooling()(packing.pack(below), packing)
    for r, row in enumerate(rows(below)):
        torch.testing.assert_close(vectors[r], row.max(0).values if len(row) else torch.zeros(3, dtype=torch.float64))
    assert weights is None


def test_attention(grid):
    packing = Packing.of(MASK)
    pool = AttentionPooling(3, 5).double()
    vectors, weights = pool(packing.pack(grid), packing)
    for r, row in enumerate(rows(grid)):
        if len(row):
            expected = pool.score(row).softmax(0)
            torch.testing.assert_close(weights[r][MASK[r]], expected)
            torch.testing.assert_close(vectors[r], expected @ row)
        else:
            assert (vectors[r] == 0).all()
    assert (weights[~MASK] == 0).all()


@pytest.mark.parametrize("name", get_args(Pooling))
def test_gradients_by_finite_differences(name, grid):
    packing = Packing.of(MASK)
    pool = pooling(name, 3, 2).double()
    packed = packing.pack(grid).detach().requires_grad_()
    assert torch.autograd.gradcheck(lambda h: pool(h, packing)[0], packed)


def test_an_unknown_pooling_is_named():
    with pytest.raises(ValueError, match="'median'"):
        pooling("median", 3, 2)


@pytest.mark.parametrize("name", ["attention", "mean"])
def test_a_long_row_in_half_precision(name):
    packing = Packing.of(torch.ones(1, 600, dtype=torch.bool))
    hidden = torch.full((600, 3), 0.75, dtype=torch.bfloat16)
    vectors, weights = pooling(name, 3, 2).bfloat16()(hidden, packing)
    assert weights.float().sum().item() == pytest.approx(1, abs=5e-3)
    torch.testing.assert_close(vectors.float(), torch.full((1, 3), 0.75), rtol=0, atol=5e-3)
