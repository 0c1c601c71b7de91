"""Attention on a memory: torch's own attention, the memory shared by many queries, empty sentences, every dtype."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from zoo.attention import SCORES, Attention, DotScore, Memory, ScaledDotScore, per_query, score, weighted_mean

DOUBLE = torch.float64
MASK = torch.tensor([[True] * 5, [True, True, False, False, False], [True, False, True, False, True], [False] * 5])


def test_by_hand():
    # scores 0 and ln 3: weights 1/4 and 3/4; the third word is padding
    attention = Attention(DotScore(1, 1))
    keys = torch.tensor([[[0.0], [math.log(3)], [9.0]]])
    memory = attention.prepare(keys, torch.tensor([[True, True, False]]), values=torch.tensor([[[8.0], [4.0], [7.0]]]))
    context, weights = attention(torch.tensor([[[1.0]]]), memory)
    torch.testing.assert_close(weights, torch.tensor([[[0.25, 0.75, 0.0]]]))
    torch.testing.assert_close(context, torch.tensor([[[5.0]]]))


@pytest.mark.parametrize("shape", [(4,), (4, 3)], ids=["sentences", "heads"])
def test_equals_torch_attention(shape):
    query, keys, values = (torch.randn(*shape, n, 4, dtype=DOUBLE, requires_grad=True) for n in (6, 5, 5))
    attention = Attention(ScaledDotScore(4, 4))
    context, weights = attention(query, attention.prepare(keys, MASK, values))
    expected = F.scaled_dot_product_attention(query, keys, values, per_query(MASK, weights))
    torch.testing.assert_close(context, expected)
    upstream = torch.randn_like(context)
    ours, theirs = (torch.autograd.grad(out, (query, keys, values), upstream) for out in (context, expected))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("name", SCORES)
@settings(max_examples=10)
@given(rows=st.integers(1, 4), length=st.integers(1, 4), steps=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_rows_are_distributions_over_the_real_positions(name, rows, length, steps, seed):
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(rows, steps, generator=generator) < 0.7
    attention = Attention(score(name, 3, 3, 4, steps)).double()
    query = torch.randn(rows, length, 3, generator=generator, dtype=DOUBLE) * 5
    values = torch.randn(rows, steps, 2, generator=generator, dtype=DOUBLE)
    memory = attention.prepare(torch.randn(rows, steps, 3, generator=generator, dtype=DOUBLE), mask, values)
    context, weights = attention(query, memory)
    assert (weights >= 0).all() and (weights.masked_select(~mask[:, None]) == 0).all()
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).double()[:, None].expand(rows, length))
    for r in range(rows):
        for t in range(length):
            slow = sum(weights[r, t, s] * values[r, s] for s in range(steps))
            torch.testing.assert_close(context[r, t], slow)
            one, alone = attention(query[r : r + 1, t], Memory(*(part[r : r + 1] for part in memory)))
            torch.testing.assert_close((one[0], alone[0]), (context[r, t], weights[r, t]))


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_an_empty_sentence_gives_zeros_and_zero_gradient(name, dtype):
    torch.manual_seed(0)
    attention = Attention(score(name, 4, 4, 3, 5)).to(dtype)
    query, keys = (torch.randn(4, n, 4, dtype=dtype, requires_grad=True) for n in (2, 5))
    context, weights = attention(query, attention.prepare(keys, MASK))
    assert (context[3] == 0).all() and (weights[3] == 0).all()
    (context * torch.arange(1, 5)).sum().backward()
    for tensor in (query, keys, *attention.parameters()):
        assert tensor.grad.isfinite().all()
    assert (query.grad[3] == 0).all() and (keys.grad[3] == 0).all()
    assert (keys.grad[~MASK] == 0).all() and (keys.grad[MASK] != 0).any()
    assert (query.grad[:3] != 0).any()


@pytest.mark.parametrize("name", SCORES)
def test_padding_changes_nothing(name):
    torch.manual_seed(0)
    attention = Attention(score(name, 4, 4, 3, 9)).double()
    query, keys = torch.randn(4, 2, 4, dtype=DOUBLE), torch.randn(4, 5, 4, dtype=DOUBLE)
    context, weights = attention(query, attention.prepare(keys, MASK))
    longer = torch.cat([keys, torch.full((4, 3, 4), 50.0, dtype=DOUBLE)], 1)
    again, wider = attention(query, attention.prepare(longer, F.pad(MASK, (0, 3))))
    torch.testing.assert_close((again, wider), (context, F.pad(weights, (0, 3))), rtol=0, atol=1e-12)


def test_the_values_are_the_keys_unless_given():
    keys, other = torch.randn(1, 2, 3), torch.randn(1, 2, 7)
    attention = Attention(score("general", 4, 3))
    assert attention.prepare(keys, torch.ones(1, 2).bool()).values is keys
    context, _ = attention(torch.randn(1, 4), attention.prepare(keys, torch.ones(1, 2).bool(), other))
    assert context.shape == (1, 7)


def test_a_memory_survives_as_a_dict_of_tensors():
    # the way a decoder's State carries it
    attention = Attention(score("location", 4, 3, longest=2))
    memory = attention.prepare(torch.randn(2, 5, 3), torch.ones(2, 5).bool())
    parts = {name: part.index_select(0, torch.tensor([1])) for name, part in memory._asdict().items()}
    query = torch.randn(2, 1, 4)
    torch.testing.assert_close(attention(query[1:], Memory(**parts))[0], attention(query, memory)[0][1:])


def test_weighted_mean_of_one_and_many():
    weights, values = torch.rand(2, 3, 5), torch.randn(2, 5, 4)
    many = weighted_mean(weights, values)
    torch.testing.assert_close(many, (weights[..., None] * values[:, None]).sum(2))
    torch.testing.assert_close(weighted_mean(weights[:, 1], values), many[:, 1])
