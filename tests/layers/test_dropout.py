"""Dropout: what is kept, how often, and that its gradient has the same mask."""

import pytest
import torch

from zoo.layers.dropout import Dropout


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_keeps_its_share_and_the_mean(p, dtype):
    torch.manual_seed(0)
    x = torch.full((400, 500), 2.0, dtype=dtype, requires_grad=True)
    y = Dropout(p)(x)
    whole = torch.tensor(2.0 / (1 - p), dtype=dtype)
    assert y.dtype == dtype
    assert y.detach().float().unique().tolist() == pytest.approx([0, whole.item()], rel=8e-3)
    kept = (y != 0).double()
    # five standard deviations of a share of 200,000, and of shares of 500 along each row
    assert kept.mean().item() == pytest.approx(1 - p, abs=5 * (p * (1 - p) / 200_000) ** 0.5)
    assert (kept.mean(1) - (1 - p)).abs().max().item() < 5 * (p * (1 - p) / 500) ** 0.5
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(gradient != 0, y != 0)


def test_is_as_it_was_without_training_and_at_both_ends():
    x = torch.randn(5, 3)
    assert Dropout(0.5).eval()(x) is x
    assert torch.equal(Dropout(0.0)(x), x)
    assert torch.equal(Dropout(1.0)(x), torch.zeros(5, 3))
    assert repr(Dropout(0.3)) == "Dropout(p=0.3, inplace=False)"
