"""Local attention by hand, and where its gradient goes. The equations of Luong's networks have it as slow loops."""

import math

import pytest
import torch

from zoo.attention import MonotonicWindow, PredictedWindow

DOUBLE = torch.float64


def prefix(lengths, steps):
    return torch.arange(steps) < torch.tensor(lengths)[:, None]


def test_monotonic_by_hand():
    # equal scores, D = 1: position 0 sees 0 1, position 2 sees 1 2 3, and from 4 on the last word of 4 is the centre
    weights = MonotonicWindow(1)(torch.zeros(1, 6, 5), prefix([4], 5), torch.arange(6))
    third = 1 / 3
    expected = [
        [0.5, 0.5, 0, 0, 0],
        [third, third, third, 0, 0],
        [0, third, third, third, 0],
        [0, 0, 0.5, 0.5, 0],
        [0, 0, 0.5, 0.5, 0],
        [0, 0, 0.5, 0.5, 0],
    ]
    torch.testing.assert_close(weights, torch.tensor([expected]))


def test_predicted_by_hand():
    # v = 0: p is the middle, 2 of 4 words. D = 2, sigma = 1: words 0 to 3 (4 is padding), softmax 1/4 each
    window = PredictedWindow(3, 2).double()
    window.v.data.zero_()
    weights = window(torch.zeros(1, 1, 6, dtype=DOUBLE), prefix([4], 6), torch.randn(1, 1, 3, dtype=DOUBLE))
    bell = [math.exp(-2), math.exp(-0.5), 1, math.exp(-0.5), 0, 0]
    torch.testing.assert_close(weights[0, 0], torch.tensor(bell, dtype=DOUBLE) / 4)
    assert weights.sum().item() == pytest.approx(0.587099, abs=1e-6)  # not 1: nothing is renormalised


def test_the_centre_depends_on_the_sentence_not_on_the_padding():
    window = PredictedWindow(3, 2)
    query = torch.randn(1, 3).expand(2, 3)
    for steps in (8, 20):
        centre = window.centre(query, prefix([4, 8], steps))
        torch.testing.assert_close(2 * centre[0], centre[1])
        assert 0 < centre[0] < 4


def test_gradients_by_finite_differences():
    # away from the edges where floor(p) jumps, the choice of the window is constant and so has no gradient
    torch.manual_seed(1)
    window, mask = PredictedWindow(2, 1).double(), prefix([6, 3, 0], 6)
    scores, query = (torch.randn(3, 2, n, dtype=DOUBLE, requires_grad=True) for n in (6, 2))
    share = window.centre(query, mask)[:2].frac()
    assert ((share > 0.01) & (share < 0.99)).all()

    def function(scores, query, *_):
        return window(scores, mask, query)

    assert torch.autograd.gradcheck(function, (scores, query, *window.parameters()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_an_empty_sentence_gives_zeros_and_zero_gradient(dtype):
    scores, query = (torch.randn(2, 3, n, dtype=dtype, requires_grad=True) for n in (5, 4))
    mask = prefix([5, 0], 5)
    weights = PredictedWindow(4, 2).to(dtype)(scores, mask, query)
    assert weights.dtype == dtype and (weights[1] == 0).all()
    (weights * torch.arange(5)).sum().backward()
    for tensor in (scores, query):
        assert tensor.grad.isfinite().all() and (tensor.grad[1] == 0).all() and (tensor.grad[0] != 0).any()


def test_half_precision_keeps_fractions_of_a_position():
    window = PredictedWindow(4, 2).to(torch.bfloat16)
    query = torch.randn(1, 50, 4, dtype=torch.bfloat16)
    centre = window.centre(query, torch.ones(1, 2000, dtype=torch.bool))
    assert centre.dtype == torch.float32
    assert (centre.frac() != 0).any()


@pytest.mark.parametrize("build", [MonotonicWindow, lambda reach: PredictedWindow(3, reach)])
def test_a_window_of_no_width_is_refused(build):
    with pytest.raises(ValueError, match="at least 1 word to either side; got reach=0"):
        build(0)
