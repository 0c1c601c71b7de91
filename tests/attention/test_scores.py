"""Scores: numbers worked by hand, torch's own modules, one query as many, keys prepared once. The equations of the
networks that attend have most of them as slow loops."""

import math

import pytest
import torch
from torch import nn

from zoo.attention import (
    SCORES,
    AdditiveScore,
    ConcatScore,
    CosineScore,
    DotScore,
    GeneralScore,
    LocationScore,
    ScaledDotScore,
    Score,
    masked_softmax,
    score,
)

DOUBLE = torch.float64


def tensor(*numbers):
    return torch.tensor(numbers, dtype=DOUBLE)


def built(name, query_dim=4, key_dim=None, seed=0):
    """A score in double precision; the widths differ where they may."""
    torch.manual_seed(seed)
    free = name in ("general", "additive", "concat", "location")
    key_dim = key_dim or (query_dim + 1 if free else query_dim)
    return score(name, query_dim, key_dim, 3, 50).double(), key_dim


@pytest.mark.parametrize(
    ("module", "weights", "query", "keys", "expected"),
    [
        (DotScore(2, 2), [], [1.0, 2.0], [[3.0, -1.0], [0.5, 4.0]], [1.0, 8.5]),
        (ScaledDotScore(2, 2), [], [1.0, 2.0], [[3.0, -1.0], [0.5, 4.0]], [2**-0.5, 8.5 * 2**-0.5]),
        (ScaledDotScore(2, 2, scale=10.0), [], [1.0, 2.0], [[3.0, -1.0]], [10.0]),
        # W k = (1 + 2 * 4, -3 + 4) = (9, 1); q . (9, 1) = 5 * 9 + 7 * 1, with W of shape (D_q, D_k)
        (GeneralScore(2, 3), [[[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]]], [5.0, 7.0], [[1.0, 3.0, 4.0]], [52.0]),
        (
            AdditiveScore(1, 1, 2),
            [[3.0, -1.0], [[1.0], [2.0]], [[-1.0], [0.5]]],  # v, W, U
            [0.3],
            [[0.1], [0.4]],
            [3 * math.tanh(0.2) - math.tanh(0.65), 3 * math.tanh(-0.1) - math.tanh(0.8)],
        ),
        (
            ConcatScore(1, 2, 2),
            [[[1.0, -1.0, 2.0], [2.0, 0.5, 0.0]], [3.0, -1.0]],  # W, v
            [0.3],
            [[0.1, 0.2], [0.4, -0.5]],
            [3 * math.tanh(0.6) - math.tanh(0.65), 3 * math.tanh(-1.1) - math.tanh(0.8)],
        ),
        (LocationScore(2, 3), [[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]], [5.0, 7.0], [[8.0]] * 2, [5.0, 7.0]),
        (LocationScore(2, 3), [[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]], [5.0, 7.0], [[8.0]] * 4, [5, 7, 24, -math.inf]),
        (CosineScore(2, 2, 0.5), [], [6.0, 8.0], [[4.0, 3.0], [-3.0, -4.0], [0.0, 0.0]], [1.92, -2.0, 0.0]),
    ],
)
def test_by_hand(module, weights, query, keys, expected):
    module = module.double()
    for parameter, value in zip(module.parameters(), weights, strict=True):
        parameter.data = tensor(*value)
    torch.testing.assert_close(module(tensor(*query), module.prepare(tensor(*keys))), tensor(*expected))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_vector_of_zeros_has_no_cosine_and_no_gradient(dtype):
    module, query, keys = CosineScore(3, 3), torch.zeros(1, 2, 3, dtype=dtype), torch.zeros(1, 4, 3, dtype=dtype)
    keys[0, 0] = 1
    query[0, 1] = torch.tensor([1.0, 2.0, 2.0])
    query.requires_grad_()
    scores = module(query, module.prepare(keys.requires_grad_()))
    assert scores.tolist() == [[[0] * 4, [pytest.approx(5 / 27**0.5, rel=1e-2), 0, 0, 0]]]
    scores.sum().backward()
    assert (query.grad[0, 0] == 0).all() and (keys.grad[0, 1:] == 0).all()
    assert query.grad.isfinite().all() and keys.grad.isfinite().all() and (query.grad[0, 1] != 0).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_location_gives_exactly_nothing_beyond_the_longest(dtype):
    module = LocationScore(2, 3).to(dtype)
    module.projection.weight.data.fill_(-300.0)
    query = torch.full((3, 4, 2), 20.0, dtype=dtype, requires_grad=True)
    mask = torch.tensor([[True] * 6, [True] * 2 + [False] * 4, [False] * 3 + [True] * 3])
    weights = masked_softmax(module(query, module.prepare(torch.zeros(3, 6, 1, dtype=dtype))), mask[:, None])
    assert (weights[..., 3:] == 0).all()
    sums = weights.sum(-1)[:, 0].tolist()
    assert sums[:2] == pytest.approx([1, 1], abs=1e-2) and sums[2] == 0  # the third sees only words that cannot be
    (weights * torch.arange(6)).sum().backward()
    assert query.grad.isfinite().all()


def test_general_equals_torch_bilinear():
    module, bilinear = GeneralScore(4, 3).double(), nn.Bilinear(4, 3, 1, bias=False).double()
    bilinear.weight.data = module.projection.weight.data[None]
    query, keys = torch.randn(2, 6, 4, dtype=DOUBLE), torch.randn(2, 7, 3, dtype=DOUBLE)
    pairs = (query[:, :, None].expand(2, 6, 7, 4).contiguous(), keys[:, None].expand(2, 6, 7, 3).contiguous())
    torch.testing.assert_close(module(query, module.prepare(keys)), bilinear(*pairs).squeeze(-1))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=["one", "sentences", "heads"])
@pytest.mark.parametrize("name", SCORES)
def test_one_query_scores_as_one_of_many(name, shape):
    module, key_dim = built(name)
    query, keys = torch.randn(*shape, 5, 4, dtype=DOUBLE), torch.randn(*shape, 6, key_dim, dtype=DOUBLE)
    prepared = module.prepare(keys)
    many = module(query, prepared)
    for t in range(5):
        torch.testing.assert_close(module(query[..., t, :], prepared), many[..., t, :])


@pytest.mark.parametrize("name", SCORES)
def test_gradients_by_finite_differences(name):
    module, key_dim = built(name, query_dim=3)
    inputs = [torch.randn(2, n, width, dtype=DOUBLE, requires_grad=True) for n, width in ((2, 3), (4, key_dim))]
    inputs += module.parameters()

    def function(query, keys, *_):
        return module(query, module.prepare(keys))

    assert torch.autograd.gradcheck(function, inputs)
    gradients = torch.autograd.grad(function(*inputs).square().sum(), inputs, materialize_grads=True)
    unread = [not gradient.any() for gradient in gradients]
    assert unread == [False, name == "location", *[False] * len(inputs[2:])]  # location alone does not read the keys


@pytest.mark.parametrize("name", ["dot", "scaled_dot", "cosine"])
def test_widths_that_cannot_differ(name):
    with pytest.raises(ValueError, match=f"{name} score needs queries and keys of one width; got 4 and 5"):
        score(name, 4, 5)


@pytest.mark.parametrize(
    ("name", "missing"), [("additive", "attention_dim"), ("concat", "attention_dim"), ("location", "longest")]
)
def test_what_a_score_needs_must_be_given(name, missing):
    with pytest.raises(ValueError, match=f"{name} score needs {missing}"):
        score(name, 4, 5)


def test_the_factory_builds_each_and_lists_them_where_a_name_is_wrong():
    kinds = [type(score(name, 4, 4, 3, 6)) for name in SCORES]
    assert kinds == [DotScore, ScaledDotScore, GeneralScore, AdditiveScore, ConcatScore, LocationScore, CosineScore]
    with pytest.raises(
        ValueError, match=r"score=aditive: expected .*, found 'aditive'; did you mean 'additive'\?"
    ) as error:
        score("aditive", 4, 4)
    assert all(name in str(error.value) for name in SCORES)
    with pytest.raises(ValueError, match=r"found 'xyzzy'$"):
        score("xyzzy", 4, 4)


def test_numbers_that_make_no_score():
    with pytest.raises(ValueError, match="at least 1; got 0"):
        LocationScore(4, 0)
    with pytest.raises(ValueError, match="positive; got 0"):
        CosineScore(4, 4, temperature=0)
    with pytest.raises(TypeError, match=r"abstract.*many"):
        Score()
