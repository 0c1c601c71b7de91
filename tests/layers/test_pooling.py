"""Pooling of packed rows against slow loops over the rows."""

import pytest
import torch

from zoo.layers.packing import Packing
from zoo.layers.pooling import MaxPooling, pooling

MASK = torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]]).bool()


@pytest.fixture
def grid():
    return torch.randn(4, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def rows(grid):
    return [grid[r][MASK[r]] for r in range(len(MASK))]


NOTHING = torch.zeros(3, dtype=torch.float64)


def test_max_including_rows_below_zero(grid):
    packing = Packing.of(MASK)
    below = grid - 10
    vectors, weights = MaxPooling()(packing.pack(below), packing)
    torch.testing.assert_close(vectors, torch.stack([row.amax(0) if len(row) else NOTHING for row in rows(below)]))
    assert weights is None


@pytest.mark.parametrize("name", ["attention", "mean"])
def test_the_mean_of_each_row_by_its_weights(grid, name):
    packing, pool = Packing.of(MASK), pooling(name, 3, 5).double()
    vectors, weights = pool(packing.pack(grid), packing)
    for r, row in enumerate(rows(grid)):
        expected = pool.score(row).softmax(0) if name == "attention" else torch.ones(len(row)).double() / len(row)
        torch.testing.assert_close(weights[r][MASK[r]], expected)
        torch.testing.assert_close(vectors[r], expected @ row)
    assert (weights[~MASK] == 0).all()


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
