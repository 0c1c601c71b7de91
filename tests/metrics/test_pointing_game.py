"""The pointing game and shares of what is true, by hand; its chance against all places that there are."""

from __future__ import annotations

import math

import pytest
import torch

from zoo.metrics import AttentionRecall, PointingGame, TrueShare, uniform_weights


def pointed(weights, evidence):
    game = PointingGame()
    game.update(torch.tensor(weights), torch.tensor(evidence).bool())
    return game.compute().item()


def test_rows_whose_largest_weight_is_on_a_true_cell():
    weights = [[0.5, 0.3, 0.2], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6], [0.8, 0.1, 0.1]]
    assert pointed(weights, [[1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0]]) == pytest.approx(2 / 3)  # one names nothing


def test_of_several_largest_weights_each_counts_its_share():
    assert pointed([[0.4, 0.4, 0.2]], [[0, 1, 1]]) == 1 / 2
    assert pointed([[0.4, 0.4, 0.2]], [[1, 1, 0]]) == 1
    assert pointed([[0.4, 0.4, 0.2]], [[0, 0, 1]]) == 0


def test_uniform_weights_score_what_a_cell_drawn_at_random_does():
    torch.manual_seed(0)
    evidence = torch.rand(40, 9) < 0.2
    each = []
    for cell in range(9):
        game = PointingGame()
        game.update(torch.eye(9)[cell].expand(40, -1), evidence)
        each.append(game.compute().item())
    chance, recall = PointingGame(), AttentionRecall()
    for metric in (chance, recall):
        metric.update(uniform_weights(torch.ones(40, 9, dtype=torch.bool)), evidence)
    assert evidence.any(1).sum() < 40
    assert chance.compute().item() == pytest.approx(sum(each) / 9, rel=1e-12)
    assert chance.compute().item() == pytest.approx(recall.compute().item(), rel=1e-6)


def test_uneven_batches_and_the_sum_of_ranks_give_the_whole():
    torch.manual_seed(0)
    weights, evidence = torch.rand(11, 2, 3), torch.rand(11, 2, 3) < 0.3
    whole, parts, rank = PointingGame(), PointingGame(), PointingGame()
    whole.update(weights, evidence)
    parts.update(weights[:1], evidence[:1])
    parts.update(weights[:0], evidence[:0])
    parts.update(weights[1:4], torch.zeros(3, 2, 3, dtype=torch.bool))
    parts.update(weights[1:8], evidence[1:8])
    rank.update(weights[8:], evidence[8:])
    for name in parts._defaults:
        setattr(parts, name, getattr(parts, name) + getattr(rank, name))
    assert parts.compute().item() == whole.compute().item()
    assert 0 < whole.compute().item() < 1


def test_without_a_true_cell_it_is_nan_and_shapes_must_agree():
    assert math.isnan(pointed([[1.0, 0.0]], [[0, 0]]))
    with pytest.raises(ValueError, match="differ in shape"):
        PointingGame().update(torch.ones(2, 3), torch.ones(2, 2, dtype=torch.bool))


def test_the_share_of_true_statements():
    share = TrueShare()
    share.update([])
    assert math.isnan(share.compute().item())
    share.update([True, False, True])
    share.update(torch.tensor([True]))
    assert share.compute().item() == 3 / 4
