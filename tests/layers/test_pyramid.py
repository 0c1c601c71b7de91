"""A pyramid joins neighbours on packed rows as on a padded grid, and knows the packing of what it made."""

import pytest
import torch
from torch.nn import functional as F

from zoo.layers.packing import Packing
from zoo.layers.pyramid import joined


@pytest.mark.parametrize("lengths", [[5, 1, 8, 3], [1], [2, 2], [7, 7, 6, 0, 3], [0, 0]])
def test_neighbours_are_side_by_side_and_an_odd_last_one_beside_zeros(lengths):
    length = torch.tensor(lengths)
    packing = Packing.of(torch.arange(max(lengths)) < length[:, None])
    x = torch.randn(int(length.sum()), 3, dtype=torch.float64, requires_grad=True)
    pairs, after = joined(x, packing)
    expected = Packing.of(torch.arange(-(-max(lengths) // 2)) < ((length + 1) // 2)[:, None])
    assert after.shape == expected.shape and after.batch_sizes == expected.batch_sizes
    for name in ("cell", "row", "flip", "order", "last"):
        assert torch.equal(getattr(after, name), getattr(expected, name)), name
    grid = F.pad(packing.unpack(x), (0, 0, 0, max(lengths) % 2))
    assert torch.equal(after.unpack(pairs), grid.view(len(lengths), -1, 6))
    (gradient,) = torch.autograd.grad(pairs.sum() + 0 * x.sum(), x)
    assert torch.equal(gradient, torch.ones_like(x))  # each position is in one pair
