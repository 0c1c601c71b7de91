"""The additive score of all queries at once: the plain sum and its gradient, parts of any size, and what is kept."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tests.layers.compared import assert_equal
from zoo.layers.loops import additive
from zoo.layers.loops.additive import additive_scores

DOUBLE = torch.float64


def parts(size=5, steps=4, places=3, width=6, dtype=DOUBLE, seed=0):
    torch.manual_seed(seed)
    shapes = (size, steps, width), (size, places, width), (width,)
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


def plain(queries, keys, v, lengths):
    """All pairs at once, and 0 at the queries that a set does not have."""
    scores = (queries[:, :, None] + keys[:, None]).tanh() @ v
    real = torch.arange(queries.shape[1]) < torch.tensor(lengths)[:, None]
    return scores * real[..., None]


@pytest.mark.parametrize("lengths", [[4, 4, 4, 4, 4], [4, 3, 2, 1, 0], [0, 2, 0, 4, 1], [0, 0, 0, 0, 0]])
@pytest.mark.parametrize("limit", [1, 150, 10**6])
def test_equals_the_plain_sum(monkeypatch, limit, lengths):
    """`limit` cuts the work into parts of one set, of some, of all."""
    monkeypatch.setattr(additive, "ON_CPU", limit)
    given = parts()
    found, expected = additive_scores(*given, lengths), plain(*given, lengths)
    assert_equal((found,), (expected,), *given, tolerance=1e-12)


def test_by_hand():
    """ln 3 / 2 + ln 3 / 2: tanh(ln 3) = (3 - 1/3) / (3 + 1/3) = 0.8."""
    half = torch.tensor(3.0, dtype=DOUBLE).log() / 2
    q, k = half.view(1, 1, 1), torch.stack([half, -half]).view(1, 2, 1)
    torch.testing.assert_close(
        additive_scores(q, k, torch.tensor([5.0], dtype=DOUBLE)), torch.tensor([[[4.0, 0.0]]], dtype=DOUBLE)
    )


def test_far_from_zero_it_is_saturated():
    """Nothing overflows, and the gradient is 0."""
    for dtype in (torch.float32, DOUBLE):
        huge = torch.tensor([1e30, -1e30, 0.0], dtype=dtype)
        queries, keys = huge.view(1, 1, 3).requires_grad_(), torch.zeros(1, 1, 3, dtype=dtype)
        scores = additive_scores(queries, keys, torch.tensor([1.0, 2.0, 4.0], dtype=dtype))
        assert scores.item() == -1.0
        (gradient,) = torch.autograd.grad(scores.sum(), queries)
        assert torch.equal(gradient, torch.tensor([[[0.0, 0.0, 4.0]]], dtype=dtype))


def test_float32_is_as_near_as_the_plain_sum():
    given = [part.detach() for part in parts(size=8, steps=20, places=30, width=64)]
    exact = plain(*given, [20] * 8)
    single = [part.float() for part in given]
    errors = [(side.double() - exact).abs().max() for side in (additive_scores(*single), plain(*single, [20] * 8))]
    assert errors[0] < 4 * errors[1]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_summed_in_float32(dtype):
    """Keys and queries of half precision, under autocast too: float32 scores, gradients in the type of each."""
    given = [part.detach().to(dtype).requires_grad_() for part in parts()]
    with torch.autocast("cpu", torch.bfloat16):
        scores = additive_scores(*given)
        scores.sum().backward()
    assert scores.dtype == torch.float32
    exact = plain(*(part.detach().float() for part in given), [4] * 5)
    torch.testing.assert_close(scores, exact, rtol=1e-5, atol=1e-5)
    assert [part.grad.dtype for part in given] == [dtype] * 3


class Largest(TorchDispatchMode):
    """How many numbers the largest tensor has that any operation gives."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        sizes = [
            part.untyped_storage().nbytes() // part.element_size() for part in tree_leaves(result) if is_real(part)
        ]
        self.numbers = max([self.numbers, *sizes])
        return result


def is_real(part):
    return isinstance(part, torch.Tensor) and part.is_floating_point()


def test_no_tensor_holds_all_pairs(monkeypatch):
    """Forward and backward hold the sums of one set here, of 40, and keep the queries, the keys and v alone."""
    monkeypatch.setattr(additive, "ON_CPU", 1)
    given = parts(size=40, steps=10, places=10, width=8)
    kept = []
    keep = torch.autograd.graph.saved_tensors_hooks(lambda part: kept.append(part.numel()) or part, lambda part: part)
    with keep, Largest() as largest:
        additive_scores(*given).sum().backward()
    assert largest.numbers <= 40 * 10 * 10  # the scores themselves
    assert sorted(kept) == [8, 40 * 10 * 8, 40 * 10 * 8]
    with Largest() as largest:
        plain(*given, [10] * 40)
    assert largest.numbers == 40 * 10 * 10 * 8


@pytest.mark.parametrize(
    ("shapes", "lengths", "text"),
    [
        (((2, 3, 4), (2, 5, 3), (4,)), None, "keys"),
        (((2, 3, 4), (1, 5, 4), (4,)), None, "keys"),
        (((2, 3, 4), (2, 5, 4), (3,)), None, "v"),
        (((2, 3, 4), (2, 5, 4), (4,)), [3], "2 numbers"),
        (((2, 3, 4), (2, 5, 4), (4,)), [3, 4], "at most 3"),
    ],
)
def test_what_does_not_fit_is_said(shapes, lengths, text):
    with pytest.raises(ValueError, match=text):
        additive_scores(*(torch.zeros(shape) for shape in shapes), lengths)


def test_no_sets_and_no_places():
    assert additive_scores(*parts(size=0)).shape == (0, 4, 3)
    given = parts(places=0)
    assert additive_scores(*given).shape == (5, 4, 0)
