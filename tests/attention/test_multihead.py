"""Multi-head attention: slow loops, torch's own modules with shared weights, both paths, empty rows, masks."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.attention.bias import causal_lower_right

from tests.layers.compared import assert_equal
from zoo.attention import MultiHeadAttention, causal_mask, masked_softmax, neighbourhood_mask

DOUBLE = torch.float64


def close(found, expected, tolerance=1e-12):
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def attention(*sizes, dtype=DOUBLE, seed=0, **settings):
    torch.manual_seed(seed)
    module = MultiHeadAttention(*sizes, **settings)
    nn.init.normal_(module.bias)
    nn.init.normal_(module.output.bias)
    return module.to(dtype)


def random(*shape, seed=1, dtype=DOUBLE):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE).to(dtype)


def crossed(module, query, memory, mask=None, need_weights=True):
    """Contexts (B, L, D) and weights (B, H, L, S) of attention to another memory; `mask` (B, L or 1, S)."""
    (q,), (k, v) = module.split_heads(module.queries(query)), module.split_heads(module.keys_values(memory))
    context, weights = module.attend(q, k, v, None if mask is None else mask[:, None], need_weights=need_weights)
    return module.output(context), weights


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("need_weights", [True, False])
def test_equals_torchs_module_in_values_and_gradients(need_weights, cross):
    ours, theirs = attention(8, 4, cross=cross), nn.MultiheadAttention(8, 4, batch_first=True, dtype=DOUBLE)
    values = {"in_proj_weight": torch.cat(list(ours.weights)), "in_proj_bias": ours.bias}
    values |= {"out_proj.weight": ours.output.weight, "out_proj.bias": ours.output.bias}
    query, keys, mask = random(3, 4, 8), random(3, 5, 8, seed=2), torch.arange(5) < torch.tensor([5, 2, 3])[:, None]
    options = {"key_padding_mask": ~mask, "average_attn_weights": False}
    expected, weights = torch.func.functional_call(theirs, values, (query, keys, keys), options)
    found = crossed(ours, query, keys, mask[:, None], need_weights)
    assert_equal((found[0],), (expected,), ours, tolerance=1e-12)
    assert (found[1] is not None) == need_weights
    if need_weights:
        close(found[1], weights)


def test_self_attention_of_one_product_equals_projecting_one_by_one():
    module, x = attention(6, 3), random(2, 5, 6)
    close(module.project(x), torch.cat([module.queries(x), module.keys_values(x)], -1))
    for one, other in zip(module(x), crossed(module, x, x), strict=True):
        close(one, other)


@st.composite
def problems(draw):
    """Sizes, a mask that may leave rows or whole sentences nothing, and whether attention is causal."""
    sizes = [draw(st.integers(1, limit)) for limit in (3, 3, 5, 5)]
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    shape = (sizes[0], draw(st.sampled_from([1, sizes[2]])), sizes[3])
    mask = torch.rand(shape, generator=generator) < draw(st.sampled_from([0.2, 0.7, 1.0]))
    return sizes, draw(st.sampled_from([None, mask])), draw(st.booleans())


@settings(max_examples=80)
@given(problems())
def test_both_paths_equal_torchs_function_and_each_other(problem):
    (batch, heads, length, size), mask, causal = problem
    module = MultiHeadAttention(4 * heads, heads)
    heads_mask = None if mask is None else mask[:, None]
    allowed = torch.ones(batch, 1, length, size, dtype=torch.bool) if mask is None else heads_mask
    if causal:
        ends = torch.arange(length)[:, None] + size - length
        allowed = allowed & (torch.arange(size) <= ends)
    gradient, results = random(batch, length, 4 * heads, seed=9), []
    for path in ("weights", "fused", "torch"):
        q, k, v = (random(batch, heads, n, 4, seed=n + m).requires_grad_() for m, n in enumerate((length, size, size)))
        if path == "torch":
            context = F.scaled_dot_product_attention(q, k, v, allowed).transpose(1, 2).flatten(2)
        else:
            context, weights = module.attend(q, k, v, heads_mask, causal=causal, need_weights=path == "weights")
        if path == "weights":
            real = allowed.expand(weights.shape)
            assert (weights[~real] == 0).all()
            close(weights.sum(-1), real.any(-1).double())
            close(context, (weights @ v).transpose(1, 2).flatten(2))
        context.backward(gradient)
        results.append((context.detach(), q.grad, k.grad, v.grad))
    for result in results[:2]:
        for found, expected in zip(result, results[2], strict=True):
            close(found, expected, 1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_an_empty_row_gives_zeros_and_zero_gradient(dtype, need_weights, training):
    module = attention(8, 2, dtype=dtype, dropout=0.3).train(training)
    q, k, v = (random(3, 2, 4, 4, seed=n, dtype=dtype).requires_grad_() for n in range(3))
    mask = torch.ones(3, 1, 4, 4, dtype=torch.bool)
    mask[1] = False
    mask[0, 0, 2] = False
    context, weights = module.attend(q, k, v, mask, need_weights=need_weights)
    assert (context[1] == 0).all() and (context[0, 2] == 0).all()
    if need_weights:
        assert (weights[1] == 0).all() and (weights[0, :, 2] == 0).all()
    context.backward(random(3, 4, 8, seed=5, dtype=dtype))
    for tensor in (q, k, v):
        assert tensor.grad.isfinite().all() and (tensor.grad[1] == 0).all() and tensor.grad[2].any()
    assert (q.grad[0, :, 2] == 0).all()


def test_large_scores_in_half_precision_stay_finite():
    # q . k = 64 * 45^2 = 129,600 overflows fp16 (65,504); divided by sqrt(64) it does not
    module = MultiHeadAttention(64, 1).half()
    q = torch.full((1, 1, 1, 64), 45.0, dtype=torch.float16)
    context, weights = module.attend(q, q, q, torch.ones(1, 1, 1, 1, dtype=torch.bool))
    assert weights.item() == 1
    assert torch.equal(context, q[0])


def test_dropout_acts_on_the_weights_in_training_and_not_on_those_returned():
    module, x = attention(8, 2, dropout=0.5), random(2, 4, 8)
    expected, expected_weights = module.eval()(x)
    module.train()
    assert torch.equal(module(x)[1], expected_weights)
    for need_weights in (True, False):
        torch.manual_seed(0)
        runs = torch.stack([module(x, need_weights=need_weights)[0] for _ in range(800)])
        assert not torch.equal(runs[0], runs[1])
        error = runs.std(0) / len(runs) ** 0.5
        assert ((runs.mean(0) - expected).abs() < 5 * error).all()  # its mean is the result without
    close(module.eval()(x, need_weights=False)[0], expected)


def test_every_matrix_starts_xavier_uniform_on_its_own():
    torch.manual_seed(0)
    module = MultiHeadAttention(64, 4)
    assert not module.bias.any() and not module.output.bias.any()
    for matrix in [*module.weights[0].split(64), module.output.weight]:
        bound = math.sqrt(6 / 128)
        assert 0.99 * bound < matrix.abs().max() <= bound
        assert abs(matrix.std() - bound / math.sqrt(3)) < 0.01 * bound


def test_errors():
    with pytest.raises(ValueError, match="10 is not a multiple of 4"):
        MultiHeadAttention(10, 4)
    with pytest.raises(ValueError, match="queries and its memory separately"):
        MultiHeadAttention(8, 4, cross=True).project(torch.zeros(1, 8))


def grid(*rows):
    return [[cell == "x" for cell in row] for row in rows]


def test_causal_by_hand():
    assert causal_mask(3, 3).tolist() == grid("x..", "xx.", "xxx")
    assert causal_mask(2, 4).tolist() == grid("xxx.", "xxxx")  # aligned at the end: two keys are older
    assert causal_mask(1, 4).tolist() == grid("xxxx")
    assert causal_mask(3, 2).tolist() == grid("..", "x.", "xx")


def test_neighbourhood_by_hand():
    assert neighbourhood_mask(4, 4, 1).tolist() == grid("x...", ".x..", "..x.", "...x")
    assert neighbourhood_mask(4, 4, 2).tolist() == grid("xx..", "xxx.", ".xxx", "..xx")
    assert neighbourhood_mask(4, 4, 3).tolist() == neighbourhood_mask(4, 4, 2).tolist()
    assert neighbourhood_mask(2, 5, 2).tolist() == grid("..xxx", "...xx")
    both = neighbourhood_mask(4, 4, 4) & causal_mask(4, 4)
    assert both.tolist() == grid("x...", "xx..", "xxx.", ".xxx")


@given(queries=st.integers(1, 6), extra=st.integers(0, 6))
def test_causal_equals_torch_aligned_at_the_end(queries, extra):
    keys = queries + extra
    scores = torch.randn(queries, keys, dtype=torch.float64)
    bias = causal_lower_right(queries, keys)
    values = torch.eye(keys, dtype=torch.float64)
    query = torch.linalg.lstsq(values, scores.T)[0].T  # the query whose products with the identity are the scores
    args = (query[None, None], values[None, None], values[None, None])
    expected = torch.nn.functional.scaled_dot_product_attention(*args, attn_mask=bias, scale=1.0)[0, 0]
    torch.testing.assert_close(masked_softmax(scores, causal_mask(queries, keys)), expected)


def test_no_neighbourhood_is_refused():
    with pytest.raises(ValueError, match="holds at least the position itself; got size=0"):
        neighbourhood_mask(3, 3, 0)
