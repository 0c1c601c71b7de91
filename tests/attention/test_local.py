"""Local attention against the paper's equations: windows by hand, slow loops, where the gradient goes."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.attention import MonotonicWindow, PredictedWindow

DOUBLE = torch.float64


def prefix(lengths, steps):
    return torch.arange(steps) < torch.tensor(lengths)[:, None]


def softmax_inside(scores, inside):
    """A list of weights: the softmax of the scores at the positions `inside`, 0 elsewhere."""
    total = sum(math.exp(scores[s]) for s in inside)
    return [math.exp(scores[s]) / total if s in inside else 0.0 for s in range(len(scores))]


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


@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(0, 8), min_size=1, max_size=3),
    queries=st.integers(1, 10),
    reach=st.integers(1, 4),
    seed=st.integers(0, 10_000),
)
def test_monotonic_equals_slow_loops(lengths, queries, reach, seed):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(len(lengths), queries, 8, generator=generator, dtype=DOUBLE)
    mask, window = prefix(lengths, 8), MonotonicWindow(reach)
    weights = window(scores, mask, torch.arange(queries))
    for b, length in enumerate(lengths):
        for t in range(queries):
            centre = min(t, length - 1)
            inside = [s for s in range(length) if centre - reach <= s <= centre + reach]
            slow = softmax_inside(scores[b, t].tolist(), inside) if length else [0.0] * 8
            assert weights[b, t].tolist() == pytest.approx(slow)
    per_row = torch.arange(queries).expand(len(lengths), queries)
    assert torch.equal(window(scores, mask, per_row), weights)
    for t in range(queries):
        torch.testing.assert_close(window(scores[:, t], mask, torch.tensor(t)), weights[:, t])
        torch.testing.assert_close(window(scores[:, t], mask, torch.full((len(lengths),), t)), weights[:, t])


def slow_centre(window, query, length):
    """p = S sigmoid(v . tanh(W h)), number by number."""
    rows, v, h = window.projection.weight.tolist(), window.v.tolist(), query.tolist()
    hidden = [math.tanh(sum(w * x for w, x in zip(row, h, strict=True))) for row in rows]
    return length / (1 + math.exp(-sum(a * b for a, b in zip(v, hidden, strict=True))))


@settings(max_examples=40)
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=3),
    queries=st.integers(1, 4),
    reach=st.integers(1, 4),
    seed=st.integers(0, 10_000),
)
def test_predicted_equals_slow_loops(lengths, queries, reach, seed):
    torch.manual_seed(seed)
    window = PredictedWindow(3, reach).double()
    window.v.data *= 5
    scores, query = torch.randn(len(lengths), queries, 9, dtype=DOUBLE), torch.randn(len(lengths), queries, 3).double()
    mask = prefix(lengths, 9)
    weights = window(scores, mask, query)
    for b, length in enumerate(lengths):
        for t in range(queries):
            p, sigma = slow_centre(window, query[b, t], length), reach / 2
            inside = [s for s in range(length) if math.floor(p) - reach <= s <= math.floor(p) + reach]
            slow = softmax_inside(scores[b, t].tolist(), inside)
            slow = [w * math.exp(-((s - p) ** 2) / (2 * sigma**2)) for s, w in enumerate(slow)]
            assert weights[b, t].tolist() == pytest.approx(slow, abs=1e-12)
            assert (not length and sum(slow) == 0) or 0 < weights[b, t].sum() < 1
    for t in range(queries):
        torch.testing.assert_close(window(scores[:, t], mask, query[:, t]), weights[:, t])


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
