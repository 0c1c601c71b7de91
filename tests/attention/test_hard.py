"""Hard attention: how often each position is drawn, its log-probability, REINFORCE against the exact gradient."""

import pytest
import torch

from zoo.attention import Attention, DotScore, HardAttention, score
from zoo.attention.draw import draw

DOUBLE = torch.float64
MASK = torch.tensor([[True] * 5, [True, True, False, False, False], [True, False, True, False, True], [False] * 5])


def test_evaluation_takes_the_most_probable_position():
    attention = HardAttention(DotScore(1, 1)).eval()
    keys = torch.tensor([[[1.0], [3.0], [2.0], [9.0]]])
    memory = attention.prepare(keys, torch.tensor([[True, True, True, False]]), keys * 10)
    look = attention(torch.tensor([[[1.0], [-1.0]]]), memory)
    assert look.chosen.tolist() == [[[0, 1, 0, 0], [1, 0, 0, 0]]]
    assert look.context.tolist() == [[[30.0], [10.0]]]
    torch.testing.assert_close(look.log_prob, look.weights.amax(-1).log())
    assert torch.equal(attention(torch.tensor([[[1.0], [-1.0]]]), memory).chosen, look.chosen)


@pytest.mark.parametrize("shape", [(4, 3), (4,)], ids=["many", "one"])
@pytest.mark.parametrize("training", [True, False])
def test_what_is_chosen_is_a_real_position_with_its_own_log_probability(shape, training):
    torch.manual_seed(0)
    hard = HardAttention(score("general", 6, 4)).double().train(training)
    soft = Attention(hard.score)
    query, keys = torch.randn(*shape, 6, dtype=DOUBLE), torch.randn(4, 5, 4, dtype=DOUBLE)
    look = hard(query, hard.prepare(keys, MASK))
    weights = soft(query, soft.prepare(keys, MASK))[1]
    torch.testing.assert_close(look.weights, weights)
    mask = MASK if len(shape) == 1 else MASK[:, None].expand(4, 3, 5)
    assert look.chosen.sum(-1)[:3].eq(1).all() and (look.chosen[~mask] == 0).all()
    position = look.chosen.argmax(-1, keepdim=True)
    torch.testing.assert_close(look.log_prob[:3], weights.gather(-1, position).squeeze(-1)[:3].log())
    flat = position.view(4, -1)
    for b in range(3):
        torch.testing.assert_close(look.context.view(4, -1, 4)[b], keys[b, flat[b]])
    assert (look.context[3] == 0).all() and (look.log_prob[3] == 0).all() and (look.chosen[3] == 0).all()


def test_positions_are_drawn_as_often_as_they_weigh():
    torch.manual_seed(0)
    weights = torch.tensor([0.5, 0.0, 0.3, 0.2, 0.0])
    counts = draw(weights.expand(20_000, 5)).bincount(minlength=5)
    expected = 20_000 * weights
    assert (counts[weights == 0] == 0).all()
    surprise = ((counts - expected) ** 2 / expected)[weights > 0].sum()
    assert surprise < 13.8  # chi-squared of 2 degrees of freedom exceeds it once in a thousand seeds


def test_draws_follow_the_seed_and_differ_between_queries():
    attention = HardAttention(DotScore(1, 1))
    memory = attention.prepare(torch.zeros(1, 30, 1), torch.ones(1, 30).bool())
    looks = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        looks.append(attention(torch.zeros(1, 20, 1), memory).chosen)
    assert torch.equal(looks[0], looks[1]) and not torch.equal(looks[0], looks[2])
    assert len(looks[0].argmax(-1).unique()) > 5


def test_reinforce_has_the_exact_gradient_in_expectation():
    """sum_s p_s r_s grad log p_s, with every position chosen once, is the gradient of the expected reward."""
    torch.manual_seed(0)
    hard = HardAttention(score("additive", 3, 4, 5)).double()
    query, keys = torch.randn(1, 3, dtype=DOUBLE), torch.randn(1, 5, 4, dtype=DOUBLE)
    mask = torch.tensor([[True, True, True, True, False]])
    reward = torch.randn(5, dtype=DOUBLE)
    parameters = list(hard.parameters())
    memory = hard.prepare(keys, mask)
    exact = torch.autograd.grad((hard(query, memory).weights[0] * reward).sum(), parameters)

    found = {}
    while len(found) < 4:
        look = hard(query, hard.prepare(keys, mask))
        position = look.chosen.argmax().item()
        if position not in found:
            gradient = torch.autograd.grad(look.log_prob.sum(), parameters)
            found[position] = [look.weights[0, position].detach() * reward[position] * g for g in gradient]
    assert sorted(found) == [0, 1, 2, 3]
    for i, gradient in enumerate(exact):
        torch.testing.assert_close(sum(part[i] for part in found.values()), gradient)


def test_the_context_teaches_the_values_and_not_the_scores():
    hard = HardAttention(score("general", 3, 4)).double()
    keys = torch.randn(2, 5, 4, dtype=DOUBLE)
    values = torch.randn(2, 5, 2, dtype=DOUBLE, requires_grad=True)
    look = hard(torch.randn(2, 3, dtype=DOUBLE), hard.prepare(keys, torch.ones(2, 5).bool(), values))
    assert not look.chosen.requires_grad
    by_score = torch.autograd.grad(look.context.sum(), [values, hard.score.projection.weight], allow_unused=True)
    assert by_score[1] is None
    torch.testing.assert_close(by_score[0], look.chosen[..., None].expand(2, 5, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("training", [True, False])
def test_an_empty_sentence_gives_zeros_and_zero_gradient(dtype, training):
    hard = HardAttention(score("general", 4, 4)).to(dtype).train(training)
    query, keys = torch.randn(4, 2, 4, dtype=dtype, requires_grad=True), torch.randn(4, 5, 4, dtype=dtype)
    look = hard(query, hard.prepare(keys, MASK))
    assert look.context.dtype == look.log_prob.dtype == dtype
    (look.log_prob.sum() + (look.weights * torch.arange(5)).sum()).backward()
    assert (look.context[3] == 0).all() and (look.log_prob[3] == 0).all() and (query.grad[3] == 0).all()
    assert query.grad.isfinite().all() and (query.grad[0] != 0).any()


def test_a_position_out_of_reach_of_the_location_score_is_never_chosen():
    hard = HardAttention(score("location", 4, 4, longest=2))
    look = hard(torch.randn(3, 50, 4), hard.prepare(torch.randn(3, 5, 4), torch.tensor([[True] * 5] * 3)))
    assert (look.chosen[..., 2:] == 0).all() and look.log_prob.isfinite().all()
    nothing = hard(torch.randn(1, 4), hard.prepare(torch.randn(1, 5, 4), torch.tensor([[False] * 2 + [True] * 3])))
    assert (nothing.chosen == 0).all() and (nothing.log_prob == 0).all()
