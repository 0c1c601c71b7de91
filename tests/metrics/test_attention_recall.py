"""attention_recall by hand."""

import math

import pytest
import torch

from zoo.metrics import AttentionRecall, uniform_weights


def test_mass_on_the_true_positions_averaged_over_examples_that_have_one():
    recall = AttentionRecall()
    weights = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.2, 0.2, 0.6]])
    evidence = torch.tensor([[1, 0, 1], [0, 0, 0], [0, 1, 0]]).bool()
    recall.update(weights[:2], evidence[:2])
    recall.update(weights[2:], evidence[2:])
    assert recall.compute().item() == pytest.approx((0.7 + 0.2) / 2)  # the second example names no evidence


def test_uneven_batches_do_not_change_it():
    weights, evidence = torch.rand(7, 4).softmax(1), torch.rand(7, 4) < 0.5
    whole, parts = AttentionRecall(), AttentionRecall()
    whole.update(weights, evidence)
    for start, end in ((0, 1), (1, 6), (6, 7)):
        parts.update(weights[start:end], evidence[start:end])
    assert whole.compute().item() == pytest.approx(parts.compute().item())


def test_without_any_evidence_it_is_nan():
    recall = AttentionRecall()
    recall.update(torch.ones(2, 1), torch.zeros(2, 1, dtype=torch.bool))
    assert math.isnan(recall.compute().item())


def test_uniform_weights_give_the_share_of_true_positions():
    mask = torch.tensor([[[1, 1], [1, 0]], [[1, 1], [1, 1]], [[0, 0], [0, 0]]]).bool()
    weights = uniform_weights(mask)
    assert weights.flatten(1).sum(1).tolist() == pytest.approx([1, 1, 0])
    recall = AttentionRecall()
    recall.update(weights, torch.tensor([[[1, 0], [0, 0]], [[1, 1], [0, 0]], [[0, 0], [0, 0]]]).bool())
    assert recall.compute().item() == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="differ in shape"):
        AttentionRecall().update(torch.ones(2, 3), torch.ones(2, 2, dtype=torch.bool))
