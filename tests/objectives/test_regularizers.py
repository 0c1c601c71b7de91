"""Coverage and entropy against loops over single weights, in value and gradient; several layers and heads."""

import pytest
import torch

from tests.objectives.toy import pairs
from zoo.attention import masked_softmax
from zoo.errors import ConfigError
from zoo.layers.state import MemoryPositions, source_attention
from zoo.models.output import Output
from zoo.objectives import AttentionEntropy, CoverageLoss, OverlapLoss

LENGTHS = [(3, 3), (2, 5), (5, 1), (2, 4)]
"""Source and target tokens of each pair of the batch."""


def attention(batch, scores):
    """(B, T, S) weights as a model returns them, from any scores."""
    return masked_softmax(scores, batch.source_mask[:, None]) * batch.target_mask[..., None]


def case():
    torch.manual_seed(0)
    batch = pairs()
    scores = (2 * torch.randn(4, 5, 5, dtype=torch.float64)).requires_grad_()
    return batch, scores, Output(torch.empty(0), {"source": attention(batch, scores)})


def hold_to(term, right, scores):
    torch.testing.assert_close(term.total, right, rtol=0, atol=1e-12)
    (found,) = torch.autograd.grad(term.total, scores, retain_graph=True)
    (expected,) = torch.autograd.grad(right, scores)
    assert expected.abs().max() > 1e-2
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("tau", [1.0, 0.4, None])
def test_coverage(tau):
    batch, scores, output = case()
    term = CoverageLoss(weight=0.7, tau=tau)(output, batch)
    right = torch.zeros((), dtype=torch.float64)
    for b, (source, target) in enumerate(LENGTHS):
        for s in range(source):
            attended = sum(torch.softmax(scores[b, t, :source], 0)[s] for t in range(target))
            right = right + ((target / source if tau is None else tau) - attended) ** 2
    hold_to(term, right, scores)
    assert (term.count, term.weight) == (4, 0.7)


def test_coverage_of_a_memory_that_the_network_chose():
    """Pairs of positions, with a different number in each example, replace those of the batch."""
    batch, numbers = pairs(), (2, 1, 3, 1)
    mask = torch.arange(3) < torch.tensor(numbers)[:, None]
    weights = masked_softmax(torch.randn(4, 5, 3, dtype=torch.float64), mask[:, None]) * batch.target_mask[..., None]
    output = Output(torch.empty(0), {"source": weights}, memories={"source": MemoryPositions.of(mask)})
    expected = sum(
        (target / number - float(weights[b, :, s].sum())) ** 2
        for b, ((_, target), number) in enumerate(zip(LENGTHS, numbers, strict=True))
        for s in range(number)
    )
    assert CoverageLoss()(output, batch).total.item() == pytest.approx(expected)
    with pytest.raises(ConfigError, match=r"its weights have 3 columns, batch\.memory_mask has 5"):
        CoverageLoss()(Output(torch.empty(0), {"source": weights}), batch)


def test_overlap_is_the_attention_on_what_was_attended_before():
    batch, scores, output = case()
    term = OverlapLoss(weight=0.5)(output, batch)
    right = torch.zeros((), dtype=torch.float64)
    for b, (source, target) in enumerate(LENGTHS):
        before = [torch.zeros((), dtype=torch.float64)] * source
        for t in range(target):
            row = torch.softmax(scores[b, t, :source], 0)
            right = right + sum(torch.minimum(row[s], before[s]) for s in range(source))
            before = [before[s] + row[s] for s in range(source)]
    hold_to(term, right, scores)
    assert (term.count, term.weight) == (13, 0.5)


def test_entropy():
    batch, scores, output = case()
    term = AttentionEntropy(weight=-0.1)(output, batch)
    right = torch.zeros((), dtype=torch.float64)
    for b, (source, target) in enumerate(LENGTHS):
        for t in range(target):
            row = torch.softmax(scores[b, t, :source], 0)
            right = right - (row * row.log()).sum()
    hold_to(term, right, scores)
    assert (term.count, term.weight) == (13, -0.1)


def test_entropy_of_certain_attention():
    batch = pairs()
    scores = torch.full((4, 5, 5), -1e4, dtype=torch.float32)
    scores[..., 0] = 0  # all other weights underflow to 0, where the entropy's slope is infinite
    scores.requires_grad_()
    sure = AttentionEntropy()(Output(torch.empty(0), {"source": attention(batch, scores)}), batch).total
    assert sure.item() == 0
    (gradient,) = torch.autograd.grad(sure, scores)
    assert gradient.isfinite().all()


def test_half_precision_is_summed_in_float32():
    batch, scores, output = case()
    half = Output(torch.empty(0), {"source": attention(batch, scores.bfloat16())})
    for regularizer in (CoverageLoss(tau=1.0), AttentionEntropy(), OverlapLoss()):
        total = regularizer(half, batch).total
        assert total.dtype == torch.float32
        assert total.item() == pytest.approx(regularizer(output, batch).total.item(), rel=0.02)


def test_source_attention_is_the_mean_over_layers_of_the_mean_over_heads():
    torch.manual_seed(0)
    heads, plain, own = torch.rand(2, 3, 4, 5), torch.rand(2, 4, 5), torch.rand(2, 3, 4, 4)
    assert source_attention({"source": plain, "decoder.0": own}) is plain
    found = source_attention({"source.0": heads, "source.1": plain, "encoder.0": own, "sourced": own})
    right = (sum(heads[:, h] for h in range(3)) / 3 + plain) / 2
    torch.testing.assert_close(found, right)
    assert source_attention({"encoder.0": own}) is None


@pytest.mark.parametrize("regularizer", [CoverageLoss(), AttentionEntropy(), OverlapLoss()])
def test_a_network_without_attention_is_told(regularizer):
    with pytest.raises(ConfigError, match="no attention on the memory"):
        regularizer(Output(torch.empty(0), {"encoder.0": torch.ones(4, 5, 5)}), pairs())
