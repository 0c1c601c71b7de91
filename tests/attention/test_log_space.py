"""Attention in log space against the same in plain numbers, at the edges where plain numbers fail."""

import math

import pytest
import torch

from zoo.attention import masked_softmax
from zoo.attention.log_space import masked_log_softmax, masked_logsumexp, pointer_sum


def test_its_exponential_is_the_masked_softmax():
    torch.manual_seed(0)
    scores, mask = torch.randn(3, 5).double(), torch.rand(3, 5) < 0.6
    mask[1] = False
    torch.testing.assert_close(masked_log_softmax(scores, mask).exp(), masked_softmax(scores, mask))


def test_the_highest_score_may_be_under_the_mask():
    found = masked_log_softmax(torch.tensor([[0.0, 1.0, 1e4]]), torch.tensor([[True, True, False]]))
    assert found[0, :2].tolist() == pytest.approx([-math.log(1 + math.e), 1 - math.log(1 + math.e)], rel=1e-6)


def test_an_empty_row_is_lowest_with_zero_gradient():
    scores = torch.randn(2, 3, requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    log_weights = masked_log_softmax(scores, mask)
    total = masked_logsumexp(log_weights, mask)
    assert total[0].item() == pytest.approx(0.0, abs=1e-6) and total[1].item() == torch.finfo(torch.float32).min
    (total.exp().sum() + log_weights.exp().sum()).backward()
    assert scores.grad.isfinite().all() and not scores.grad[1].any()


def test_a_words_places_are_summed():
    log_weights = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log()
    found = pointer_sum(log_weights, torch.tensor([[1, 0, 1, -1]]), 3)
    assert found[0, :2].exp().tolist() == pytest.approx([0.2, 0.4], rel=1e-6)
    assert found[0, 2].item() == torch.finfo(torch.float32).min


def test_the_sum_of_weights_that_float32_does_not_hold():
    found = pointer_sum(torch.tensor([[-200.0, -200.0, -500.0]]), torch.tensor([[0, 0, 1]]), 2)
    assert found[0].tolist() == pytest.approx([-200 + math.log(2), -500], rel=1e-6)


def test_its_gradient_shares_out_by_weight():
    """d log(a + b) / d log a = a / (a + b)."""
    log_weights = torch.tensor([[0.1, 0.3, 0.6]]).log().double().requires_grad_()
    pointer_sum(log_weights, torch.tensor([[0, 0, 1]]), 1)[0, 0].backward()
    assert log_weights.grad[0].tolist() == pytest.approx([0.25, 0.75, 0.0])
    assert torch.autograd.gradcheck(lambda x: pointer_sum(x, torch.tensor([[0, 1, 0]]), 2), (log_weights,))


def test_half_precision_is_summed_exactly():
    many = torch.full((1, 600), -math.log(600), dtype=torch.bfloat16)
    found = pointer_sum(many, torch.zeros(1, 600, dtype=torch.long), 1)
    assert found.dtype == torch.float32 and found.item() == pytest.approx(0.0, abs=0.02)
