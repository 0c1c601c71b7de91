"""Mass on the true positions, the pointing game and the alignment error rate, by hand."""

import pytest
import torch

from zoo.metrics import (
    AlignmentErrorRate,
    AttentionRecall,
    HeadRecalls,
    PointingGame,
    uniform_rows,
    uniform_weights,
)

WEIGHTS = torch.tensor(
    [[[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.1, 0.8, 0.1]], [[0.6, 0.4, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]
)
ALIGNMENT = torch.tensor(
    [
        [[1, 0, 0], [0, 1, 1], [0, 0, 0]],  # found; one of two found; a token without a source
        [[0, 1, 0], [0, 0, 0], [0, 0, 0]],  # missed; padding
    ]
).bool()


def scored(metric, weights, truth):
    metric.update(torch.as_tensor(weights), torch.as_tensor(truth).bool())
    return metric.compute().item()


def test_recall_is_the_mean_over_examples_that_have_evidence():
    weights = [[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.2, 0.2, 0.6]]
    assert scored(AttentionRecall(), weights, [[1, 0, 1], [0, 0, 0], [0, 1, 0]]) == pytest.approx((0.7 + 0.2) / 2)


def test_uniform_weights_recall_the_share_of_true_positions():
    mask = torch.tensor([[[1, 1], [1, 0]], [[1, 1], [1, 1]], [[0, 0], [0, 0]]]).bool()
    weights = uniform_weights(mask)
    assert weights.flatten(1).sum(1).tolist() == pytest.approx([1, 1, 0])
    evidence = [[[1, 0], [0, 0]], [[1, 1], [0, 0]], [[0, 0], [0, 0]]]
    assert scored(AttentionRecall(), weights, evidence) == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_each_head_has_a_recall_over_all_rows_that_have_a_true_position():
    """Head 0 has .7, .7 and .4 there, in three rows; head 1 looks at the last column, which is true in one of them."""
    metric, other = HeadRecalls(2), torch.zeros_like(WEIGHTS)
    other[..., 2] = 1.0
    for b in range(2):
        metric.update(torch.stack([WEIGHTS[b], other[b]])[None], ALIGNMENT[b, None])
    assert metric.compute().tolist() == pytest.approx([(0.7 + 0.7 + 0.4) / 3, 1 / 3])


def test_recall_of_pairs_counts_target_tokens_that_have_a_source():
    uniform = uniform_rows(torch.tensor([[1, 1, 1], [1, 1, 0]]).bool(), 3)
    assert uniform.shape == WEIGHTS.shape
    assert uniform[1, 0].tolist() == [0.5, 0.5, 0.0]
    links = ALIGNMENT.flatten(0, 1)
    assert scored(AttentionRecall(), WEIGHTS.flatten(0, 1), links) == pytest.approx((0.7 + 0.7 + 0.4) / 3)
    assert scored(AttentionRecall(), uniform.flatten(0, 1), links) == pytest.approx((1 / 3 + 2 / 3 + 1 / 2) / 3)


def test_the_game_counts_rows_whose_largest_weight_is_on_a_true_cell():
    weights = [[0.5, 0.3, 0.2], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6], [0.8, 0.1, 0.1]]
    evidence = [[1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0]]  # the last has none
    assert scored(PointingGame(), weights, evidence) == pytest.approx(2 / 3)


@pytest.mark.parametrize(("evidence", "share"), [([0, 1, 1], 1 / 2), ([1, 1, 0], 1), ([0, 0, 1], 0)])
def test_each_of_several_largest_weights_counts_its_share(evidence, share):
    assert scored(PointingGame(), [[0.4, 0.4, 0.2]], [evidence]) == share


def test_error_rate_of_the_largest_weights():
    found = scored(AlignmentErrorRate(), WEIGHTS, ALIGNMENT)
    assert found == pytest.approx(1 - 2 * 2 / (3 + 4))  # 3 chosen links, 4 true ones, 2 in both


def test_error_rate_above_a_threshold():
    # chosen: token 1: 1 link, token 2: 3 links, of the other pair: 2 links; true ones among them: 1 + 2 + 1
    assert scored(AlignmentErrorRate(threshold=0.3), WEIGHTS, ALIGNMENT) == pytest.approx(1 - 2 * 4 / (6 + 4))


@pytest.mark.parametrize("metric", [AttentionRecall, PointingGame, AlignmentErrorRate])
def test_shapes_must_agree(metric):
    with pytest.raises(ValueError, match="differ in shape"):
        metric().update(WEIGHTS, ALIGNMENT[:, :2])
