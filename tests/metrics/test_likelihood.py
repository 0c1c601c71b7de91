"""Perplexity of a corpus is no mean over batches."""

import math

import pytest
import torch

from zoo.metrics import Perplexity, TokenLoss


def test_sums_over_batches_of_uneven_size_are_divided_once():
    nll = torch.tensor([0.5, 2.0, 3.0, 0.1, 4.0])
    loss, perplexity = TokenLoss(), Perplexity()
    for start, end in ((0, 1), (1, 5)):
        for metric in (loss, perplexity):
            metric.update(nll[start:end].sum(), end - start)
    assert loss.compute().item() == pytest.approx(9.6 / 5)
    assert perplexity.compute().item() == pytest.approx(math.exp(9.6 / 5))


def test_a_model_that_guesses_evenly_has_the_vocabularys_size():
    metric = Perplexity()
    metric.update(torch.tensor(7 * math.log(50), requires_grad=True), torch.tensor(7))
    assert metric.compute().item() == pytest.approx(50)
    assert not metric.total.requires_grad


def test_many_small_batches_lose_nothing():
    """Summed in float32, a long corpus would stop growing: 2^24 + 1 = 2^24."""
    metric = TokenLoss()
    metric.update(torch.tensor(2.0**24), 2**24)
    for _ in range(10):
        metric.update(torch.tensor(1.0), 1)
    assert metric.total.item() == metric.tokens.item() == 2**24 + 10


def test_the_sum_of_the_states_of_two_ranks_gives_the_corpus():
    parts = [Perplexity(), Perplexity()]
    for metric, total, tokens in zip(parts, (3.0, 40.0), (4, 9), strict=True):
        metric.update(torch.tensor(total), tokens)
    parts[0].total += parts[1].total
    parts[0].tokens += parts[1].tokens
    assert parts[0].compute().item() == pytest.approx(math.exp(43 / 13))


def test_without_tokens_it_is_nan():
    metric = Perplexity()
    metric.update(torch.tensor(0.0), 0)
    assert math.isnan(metric.compute().item())
