"""Embeddings of tokens and of distributions; positions: the formula by hand, its property, dtypes; dropout."""

import math

import pytest
import torch

from zoo.layers.embedding import LearnedPositions, SinusoidalPositions, TokenEmbedding
from zoo.layers.trees.head import Dropout

DOUBLE = torch.float64


def test_a_distribution_gives_the_mean_embedding_under_it():
    torch.manual_seed(0)
    embedding = TokenEmbedding(3, 2)
    with torch.no_grad():
        embedding.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))
    found = embedding(torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]))
    torch.testing.assert_close(found, torch.tensor([[2.5, 3.75], [3.0, 4.0]]))
    assert torch.equal(embedding(torch.tensor([[1], [2]])), embedding.weight[[1, 2], None])


def test_the_padding_row_counts_as_zero_and_gets_no_gradient():
    embedding = TokenEmbedding(4, 2, padding_idx=2)
    probabilities = torch.full((3, 4), 0.25, requires_grad=True)
    ids = torch.tensor([0, 2, 3])
    torch.testing.assert_close(embedding(probabilities)[0], embedding.weight[[0, 1, 3]].mean(0) * 0.75)
    (embedding(probabilities).sum() + embedding(ids).sum()).backward()
    assert (embedding.weight.grad[2] == 0).all()
    assert (embedding.weight.grad[[0, 1, 3]] > 0).all()


def test_sinusoids_by_hand():
    # D = 4: the frequencies are 1 and 1 / 10000^(2/4) = 1/100
    found = SinusoidalPositions(4).double()(torch.tensor([0, 1, 50]))
    expected = [[math.sin(p), math.cos(p), math.sin(p / 100), math.cos(p / 100)] for p in (0, 1, 50)]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=DOUBLE), rtol=0, atol=1e-14)
    assert found[0].tolist() == [0, 1, 0, 1]


def test_an_offset_is_a_rotation_of_each_pair():
    # PE(p + k) is a linear function of PE(p), the paper's reason for sines (section 3.5)
    positions = SinusoidalPositions(6).double()
    pairs = positions(torch.arange(20)).view(20, 3, 2)
    for pair, frequency in enumerate([1.0, 10_000 ** (-2 / 6), 10_000 ** (-4 / 6)]):
        angle = torch.tensor(5 * frequency, dtype=DOUBLE)
        rotation = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()]).view(2, 2)
        torch.testing.assert_close(pairs[5:, pair], pairs[:-5, pair] @ rotation, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "error"), [(torch.float16, 1e-3), (torch.bfloat16, 5e-3), (torch.float32, 3e-4), (DOUBLE, 0)]
)
def test_sinusoids_have_the_dtype_of_their_module_and_tell_late_positions_apart(dtype, error):
    positions, late = SinusoidalPositions(8).to(dtype), torch.arange(2040, 2050).view(2, 5)
    found = positions(late)
    assert found.dtype == dtype
    assert found.shape == (2, 5, 8)
    exact = SinusoidalPositions(8).double()(late)
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=error)
    assert len(found.view(10, 8).unique(dim=0)) == 10


def test_sinusoids_hold_no_weights_and_need_an_even_width():
    assert not SinusoidalPositions(4).state_dict()
    with pytest.raises(ValueError, match="even, got 5"):
        SinusoidalPositions(5)


def test_learned_positions_are_rows_and_the_last_stands_for_all_beyond():
    positions = LearnedPositions(3, 2)
    found = positions(torch.tensor([[0, 2], [3, 100]]))
    assert torch.equal(found, positions.weight[torch.tensor([[0, 2], [2, 2]])])
    found.sum().backward()
    assert positions.weight.grad.tolist() == [[1, 1], [0, 0], [3, 3]]


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
