"""Alignment error rate and attention_recall on pairs, by hand."""

import math

import pytest
import torch

from zoo.metrics import AlignmentErrorRate, AttentionRecall, uniform_rows

WEIGHTS = torch.tensor(
    [
        [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.1, 0.8, 0.1]],
        [[0.6, 0.4, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)
ALIGNMENT = torch.tensor(
    [
        [[1, 0, 0], [0, 1, 1], [0, 0, 0]],  # found; one of two found; a token that comes from nowhere
        [[0, 1, 0], [0, 0, 0], [0, 0, 0]],  # missed; padding
    ]
).bool()


def test_largest_weights_beside_the_true_links():
    metric = AlignmentErrorRate()
    metric.update(WEIGHTS[:1], ALIGNMENT[:1])
    metric.update(WEIGHTS[1:], ALIGNMENT[1:])
    assert metric.compute().item() == pytest.approx(1 - 2 * 2 / (3 + 4))  # 3 chosen links, 4 true ones, 2 in both


def test_links_above_a_threshold():
    metric = AlignmentErrorRate(threshold=0.3)
    metric.update(WEIGHTS, ALIGNMENT)
    # chosen: token 1: 1 link, token 2: 3 links, of the other pair: 2 links; true ones among them: 1 + 2 + 1
    assert metric.compute().item() == pytest.approx(1 - 2 * 4 / (6 + 4))


def test_right_and_wrong_and_nothing():
    links = torch.eye(4, dtype=torch.bool)[None]
    for weights, rate in ((links.float(), 0.0), (links.roll(1, -1).float(), 1.0)):
        metric = AlignmentErrorRate()
        metric.update(weights, links)
        assert metric.compute().item() == rate
    empty = AlignmentErrorRate()
    empty.update(WEIGHTS, torch.zeros_like(ALIGNMENT))
    assert math.isnan(empty.compute().item())


def test_equals_a_loop_and_the_sum_of_two_ranks():
    torch.manual_seed(0)
    weights, alignment = torch.rand(6, 5, 7).softmax(-1), torch.rand(6, 5, 7) < 0.2
    chosen, true = set(), set()
    for b in range(6):
        for t in range(5):
            links = {(b, t, s) for s in range(7) if alignment[b, t, s]}
            if links:
                true |= links
                chosen.add((b, t, max(range(7), key=lambda s: weights[b, t, s].item())))
    rate = 1 - 2 * len(chosen & true) / (len(chosen) + len(true))
    first, second = AlignmentErrorRate(), AlignmentErrorRate()
    first.update(weights[:2], alignment[:2])
    second.update(weights[2:], alignment[2:])
    first.found += second.found
    first.links += second.links
    assert first.compute().item() == pytest.approx(rate)
    assert 0 < rate < 1


def test_shapes_that_differ_raise():
    with pytest.raises(ValueError, match="differ in shape"):
        AlignmentErrorRate().update(WEIGHTS, ALIGNMENT[:, :2])


def test_attention_recall_of_pairs_counts_target_tokens_that_come_from_somewhere():
    recall, chance = AttentionRecall(), AttentionRecall()
    source_mask = torch.tensor([[1, 1, 1], [1, 1, 0]]).bool()
    uniform = uniform_rows(source_mask, 3)
    assert uniform.shape == WEIGHTS.shape
    assert uniform[1, 0].tolist() == [0.5, 0.5, 0.0]
    recall.update(WEIGHTS.flatten(0, 1), ALIGNMENT.flatten(0, 1))
    chance.update(uniform.flatten(0, 1), ALIGNMENT.flatten(0, 1))
    assert recall.compute().item() == pytest.approx((0.7 + 0.7 + 0.4) / 3)
    assert chance.compute().item() == pytest.approx((1 / 3 + 2 / 3 + 1 / 2) / 3)
