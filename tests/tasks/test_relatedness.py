"""The score of two trees: the target that it is trained on, and the correlations of a whole split."""

import math

import numpy as np
import pytest
import torch

from tests.families.relatedness import FAMILY
from tests.tasks.running import figures
from zoo.tasks.relatedness import Relatedness, divergences


def target(score, grades=5):
    """Tai et al. 2015, equation 16."""
    p = [0.0] * grades
    floor = int(np.floor(score))
    for i in range(1, grades + 1):
        if i == floor + 1:
            p[i - 1] = score - floor
        elif i == floor:
            p[i - 1] = floor - score + 1
    return torch.tensor(p, dtype=torch.float64)


@pytest.mark.parametrize("score", [1.0, 1.3, 2.0, 3.9, 4.5, 5.0])
def test_the_divergence_from_the_papers_target(score):
    logits = torch.tensor([[0.3, -1.0, 2.0, 0.1, 0.7]], dtype=torch.float64, requires_grad=True)
    p = target(score)
    assert p.sum() == pytest.approx(1) and p @ torch.arange(1.0, 6).double() == pytest.approx(score)
    expected = torch.nn.functional.kl_div(logits.log_softmax(-1), p[None], reduction="batchmean")
    found = divergences(logits, torch.tensor([score - 1], dtype=torch.float64))[0]
    torch.testing.assert_close(found, expected)
    for one, other in zip(torch.autograd.grad(found, logits), torch.autograd.grad(expected, logits), strict=True):
        torch.testing.assert_close(one, other)


def test_what_is_trained_on_and_what_is_measured(monkeypatch):
    """With equal scores the mean grade is 3, and the divergence is log 5 less the entropy of the target."""
    task = Relatedness(model={"_target_": "zoo.models.PhraseMean", "hidden_dim": 4}, monitor="val/pearson", mode="max")
    task.build(FAMILY.spec, None)
    task.network.head.grade.weight.data.zero_()
    task.network.head.grade.bias.data.zero_()
    batch = FAMILY.batch(1, empty=False)
    shares = [target(score) for score in batch.score.tolist()]
    expected = np.mean([math.log(5) + float(torch.special.xlogy(p, p).sum()) for p in shares])
    found = figures(task, monkeypatch, batch)
    assert task.training_step(batch, 0).item() == pytest.approx(expected, abs=1e-5)
    assert found["loss"] == pytest.approx(expected, abs=1e-5)
    assert found["mse"] == pytest.approx(((batch.score - 3) ** 2).mean().item(), abs=1e-5)


def test_the_score_is_the_mean_grade_and_the_trees_are_told():
    task = Relatedness(
        model={"_target_": "zoo.models.TreeLSTM", "embedding_dim": 4, "hidden_dim": 3, "pooling": "attention"},
        monitor="val/pearson",
        mode="max",
    )
    task.build(FAMILY.spec, None)
    batch = FAMILY.batch(1, empty=False)
    sentences = [[f"w{number}" for number in ids] for ids in batch.trees.ids()]
    pairs = list(zip(sentences[::2], sentences[1::2], strict=True))
    for prediction, (first, second) in zip(task.eval().predictions(batch, pairs), pairs, strict=True):
        shares = prediction.probabilities
        assert list(shares) == ["1", "2", "3", "4", "5"] and sum(shares.values()) == pytest.approx(1, abs=1e-5)
        assert prediction.score == pytest.approx(sum(int(grade) * p for grade, p in shares.items()), abs=1e-5)
        for tree, words in ((prediction.first, first), (prediction.second, second)):
            assert list(tree.words) == words and len(tree.parent) == 2 * len(words) - 1
            assert sum(tree.weights) == pytest.approx(1, abs=1e-5)
