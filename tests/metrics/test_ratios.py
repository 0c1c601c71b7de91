"""Sums over batches and ranks, and the metrics that divide sums by counts, by hand."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from zoo.metrics import (
    AlignmentErrorRate,
    AttentionRecall,
    CorpusBLEU,
    CorpusChrF,
    Perplexity,
    PointingGame,
    Share,
    TokenLoss,
)
from zoo.metrics.classes import BestThreshold, Reliability
from zoo.metrics.pearson import Pearson
from zoo.metrics.ratios import GroupMeans, PolarAccuracy, TaskErrors, failed_tasks, mean_error

FINE = (-1, -1, 0, 1, 1)
WEIGHTS, TRUE = torch.rand(11, 2, 3), torch.rand(11, 2, 3) < 0.3
REFERENCES = [f"a b c d e f{n}" for n in range(11)]
HYPOTHESES = [text.replace("c", "c" * (1 + n % 2)) for n, text in enumerate(REFERENCES)]
METRICS = {
    AttentionRecall: (WEIGHTS, TRUE),
    PointingGame: (WEIGHTS, TRUE),
    AlignmentErrorRate: (WEIGHTS, TRUE),
    Share: (TRUE[:, 0, 0],),
    lambda: GroupMeans(1): (WEIGHTS[:, 0, 0], torch.zeros(11, dtype=torch.long)),
    lambda: TaskErrors(1): (TRUE[:, 0, 0], torch.zeros(11, dtype=torch.long)),
    lambda: PolarAccuracy(FINE): (torch.rand(11, 5), torch.arange(11) % 5),
    Reliability: (torch.rand(11, 3).softmax(1), torch.arange(11) % 3),
    BestThreshold: (torch.linspace(0, 1, 11), torch.arange(11) % 2),
    CorpusBLEU: (HYPOTHESES, REFERENCES),
    CorpusChrF: (HYPOTHESES, REFERENCES),
}


@pytest.mark.parametrize("make", METRICS)
def test_uneven_batches_and_the_sum_of_two_ranks_are_the_whole(make):
    whole, first, second = make(), make(), make()
    whole.update(*METRICS[make])
    for metric, start, end in ((first, 0, 1), (first, 1, 1), (first, 1, 8), (second, 8, 11)):
        metric.update(*(part[start:end] for part in METRICS[make]))
    for name, reduce in first._reductions.items():
        setattr(first, name, reduce(torch.stack([getattr(first, name), getattr(second, name)])))
    torch.testing.assert_close(first.compute(), whole.compute(), rtol=1e-6, atol=0)
    whole.reset()
    whole.update(*(part[8:] for part in METRICS[make]))
    torch.testing.assert_close(whole.compute(), second.compute(), rtol=0, atol=0, equal_nan=True)


def test_loss_and_perplexity_divide_once():
    nll = torch.tensor([0.5, 2.0, 3.0, 0.1, 4.0], requires_grad=True)
    loss, perplexity = TokenLoss(), Perplexity()
    for start, end in ((0, 1), (1, 5)):
        for metric in (loss, perplexity):
            metric.update(nll[start:end].sum(), end - start)
    assert loss.compute().item() == pytest.approx(9.6 / 5)
    assert perplexity.compute().item() == pytest.approx(math.exp(9.6 / 5))
    assert not loss.total.requires_grad


def test_many_small_batches_lose_nothing():
    """In float32 a long corpus would stop growing: 2^24 + 1 = 2^24."""
    metric = TokenLoss()
    metric.update(torch.tensor(2.0**24), 2**24)
    for _ in range(10):
        metric.update(torch.tensor(1.0), 1)
    assert metric.total.item() == metric.count.item() == 2**24 + 10


def test_the_share_of_true_statements():
    share = Share()
    share.update([True, False, True])
    share.update(torch.tensor([True]))
    assert share.compute().item() == 3 / 4


def test_means_by_group():
    means = GroupMeans(3)
    means.update(torch.tensor([1.0, 2.0, 6.0]), torch.tensor([0, 2, 0]))
    means.update(torch.tensor([True, False]), torch.tensor([2, 2]))
    torch.testing.assert_close(means.compute(), torch.tensor([3.5, torch.nan, 1.0]).double(), equal_nan=True)


def test_errors_by_task():
    """Three of four are wrong in the first task, one of twenty in the second; the third has no question."""
    metric = TaskErrors(3)
    metric.update(torch.tensor([True, False, True]), torch.tensor([0, 1, 0]))
    metric.update(torch.tensor([True, False, True]), torch.tensor([0, 0, 1]))
    metric.update(torch.zeros(18, dtype=torch.bool), torch.ones(18, dtype=torch.long))
    errors = metric.compute()
    torch.testing.assert_close(errors, torch.tensor([0.75, 0.05, torch.nan]), equal_nan=True)
    assert mean_error(errors).item() == torch.tensor(0.4).item()  # each task counts the same; 4 of 24 were wrong
    assert failed_tasks(errors) == 1  # 5 % itself is not failed


def test_errors_of_several_networks():
    metric = TaskErrors(2, (3,))
    wrong = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])
    metric.update(wrong, torch.tensor([0, 1, 1]))
    errors = metric.compute()
    assert errors.tolist() == [[1, 1], [1, 0], [0, 0]]
    assert mean_error(errors).tolist() == [1, 0.5, 0] and failed_tasks(errors).tolist() == [2, 1, 0]


def polar(polarity, scores, labels):
    metric = PolarAccuracy(polarity)
    metric.update(torch.tensor(scores), torch.tensor(labels))
    return metric.compute().item()


def test_fine_classes_are_merged_as_in_corenlp():
    # right, right but for the strength, neutral in place of positive, the other side, and a neutral example
    guesses = torch.nn.functional.one_hot(torch.tensor([0, 0, 2, 1, 4]), 5).float().tolist()
    assert polar(FINE, guesses, [0, 1, 3, 4, 2]) == 2 / 4
    assert polar(FINE, [[0.0, 0.1, 0.5, 0.4, 0.0]], [3]) == 0, "the likeliest class is neutral, which is wrong"
    assert polar((-1, 0, 1, 1), [[0.3, 0.4, 0.2, 0.1]] * 2, [0, 2]) == 0, "one side of several classes suffices"


def test_two_classes_are_compared_alone():
    # neutral is likeliest, and positive before negative
    assert polar((-1, 0, 1), [[0.1, 0.6, 0.3]] * 3, [2, 0, 1]) == 1 / 2


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-6])
def test_is_scipys_whatever_the_batches(spread):
    draw = np.random.default_rng(0)
    true = draw.uniform(1, 5, 100).round(1).astype(np.float32)
    guess = (3.2 + spread * (true + draw.normal(0, 1, 100))).astype(np.float32)
    metric = Pearson()
    for part in np.split(np.arange(100), [1, 30, 77]):
        metric.update(torch.tensor(guess[part]), torch.tensor(true[part]))
    expected = stats.pearsonr(guess.astype(float), true.astype(float)).statistic
    assert metric.compute().item() == pytest.approx(expected, abs=1e-7)
