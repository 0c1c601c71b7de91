"""Masked and segment softmax, attention in log space, and local attention: by hand, empty rows, dtypes, gradients."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.attention import ContextScore, MonotonicWindow, PredictedWindow, masked_softmax, segment_softmax
from zoo.attention.softmax import masked_log_softmax, masked_logsumexp, needed, pointer_sum


def test_worked_numbers():
    # e^1 : e^3 = 1 : e^2, so the shares are 1 / (1 + e^2) and e^2 / (1 + e^2); the 99 is not there
    weights = masked_softmax(torch.tensor([[1.0, 99.0, 3.0]]), torch.tensor([[True, False, True]]))
    share = 1 / (1 + math.e**2)
    torch.testing.assert_close(weights, torch.tensor([[share, 0.0, 1 - share]]))


def test_a_mask_is_needed_where_it_hides_something():
    mask = torch.tensor([[True, True], [True, False]])
    assert needed(mask) is mask
    assert needed(mask[:1]) is None
    assert torch.compile(lambda mask: torch.zeros(2) if needed(mask) is None else mask, backend="eager")(mask[:1]).all()


def test_scores_below_minus_88_beside_masked_ones_stay_exact():
    weights = masked_softmax(torch.tensor([[-140.0, -141.0, 0.0]]), torch.tensor([[True, True, False]]))
    torch.testing.assert_close(weights[0, :2], torch.tensor([-140.0, -141.0]).softmax(0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_an_empty_row_gives_zeros_and_zero_gradient(dtype):
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=dtype, requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([[True, True], [False, False]]))
    assert weights[1].tolist() == [0, 0]
    (weights * torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=dtype)).sum().backward()
    assert scores.grad[1].tolist() == [0, 0]
    assert scores.grad.isfinite().all() and scores.grad[0].abs().sum() > 0


def test_gradients_by_finite_differences():
    mask = torch.tensor([[True, True, False], [False, False, False], [True, False, True]])
    scores = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: masked_softmax(s, mask), scores)
    segment = torch.tensor([0, 2, 0, 2, 2])
    flat = torch.randn(5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: segment_softmax(s, segment, 3), flat)


def test_a_mask_must_be_boolean():
    with pytest.raises(ValueError, match="boolean"):
        masked_softmax(torch.zeros(2), torch.ones(2))


@settings(max_examples=50)
@given(
    rows=st.integers(1, 6), steps=st.integers(1, 7), seed=st.integers(0, 10_000), spread=st.sampled_from([1.0, 200.0])
)
def test_segments_equal_masked_rows(rows, steps, seed, spread):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(rows, steps, generator=generator, dtype=torch.float64) * spread
    mask = torch.rand(rows, steps, generator=generator) < 0.6
    row, column = mask.nonzero(as_tuple=True)
    segments = segment_softmax(scores[row, column], row, rows)
    torch.testing.assert_close(segments, masked_softmax(scores, mask)[row, column])
    for r in range(rows):
        if mask[r].any():
            assert math.isclose(segments[row == r].sum().item(), 1.0)


def test_segments_far_apart_do_not_underflow():
    weights = segment_softmax(torch.tensor([0.0, 0.0, -300.0, -300.0]), torch.tensor([0, 0, 1, 1]), 2)
    assert weights.tolist() == [0.5, 0.5, 0.5, 0.5]


def test_context_score_is_the_papers_equation():
    score = ContextScore(2, 3).double()
    key = torch.tensor([0.3, -1.2], dtype=torch.float64)
    w, b, u = score.projection.weight, score.projection.bias, score.context
    by_hand = sum(u[a] * math.tanh(sum(w[a, d] * key[d] for d in range(2)) + b[a]) for a in range(3))
    torch.testing.assert_close(score(key), by_hand)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("steps", [100, 2000])
def test_a_long_segment_in_half_precision_sums_to_one(dtype, steps):
    """A sum of ones ends at 256 in bfloat16 and at 2048 in float16."""
    scores = torch.randn(2 * steps, generator=torch.Generator().manual_seed(0)).to(dtype)
    weights = segment_softmax(scores, torch.arange(2).repeat(steps), 2)
    assert weights.dtype == dtype
    torch.testing.assert_close(weights.float().view(steps, 2).sum(0), torch.ones(2), rtol=0, atol=5e-3)
    expected = masked_softmax(scores.float().view(steps, 2), dim=0).flatten()
    torch.testing.assert_close(weights.float(), expected, rtol=1e-2, atol=1e-6)


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


def test_gradients_of_a_window_by_finite_differences():
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
