"""Masks of self-attention: grids by hand, torch's causal bias."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention.bias import causal_lower_right

from zoo.attention import causal_mask, masked_softmax, neighbourhood_mask


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


@given(queries=st.integers(1, 6), keys=st.integers(1, 6), size=st.integers(1, 8))
def test_every_cell(queries, keys, size):
    causal, near = causal_mask(queries, keys), neighbourhood_mask(queries, keys, size)
    assert causal.shape == near.shape == (queries, keys)
    for i in range(queries):
        for j in range(keys):
            assert causal[i, j].item() == (j <= i + keys - queries)
            assert near[i, j].item() == (abs(i + keys - queries - j) <= size // 2)


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
