"""The vocabulary's cross-entropy against its formula and torch's, in value and gradient, and what padding costs."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from tests.objectives.toy import SOURCES, SPEC, TARGETS, Toy, gradients, pairs
from zoo.models.output import Output
from zoo.objectives import CrossEntropy
from zoo.objectives.cross_entropy import token_terms, vocabulary_cross_entropy
from zoo.objectives.feeding import walk


def smoothed_target(target, classes, smoothing, padding):
    """1 - s at the target plus s / (V - 1) at each class but padding, (N, V)."""
    q = torch.full((len(target), classes), smoothing / (classes - 1), dtype=torch.float64)
    q[:, padding] = 0
    return q + (1 - smoothing) * F.one_hot(target, classes).double()


def test_a_worked_number():
    scores = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).double().log()
    total, nll = vocabulary_cross_entropy(scores, torch.tensor([3]), label_smoothing=0.3, padding=0)
    assert total.item() == pytest.approx(-(0.1 * math.log(0.2) + 0.1 * math.log(0.3) + 0.8 * math.log(0.4)))
    assert nll.item() == pytest.approx(-math.log(0.4))


@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
def test_values_and_gradients_are_torchs(smoothing, padding):
    torch.manual_seed(0)
    scores = (4 * torch.randn(30, 12, dtype=torch.float64)).requires_grad_()
    target = torch.randint(4, 12, (30,))
    total, nll = vocabulary_cross_entropy(scores, target, label_smoothing=smoothing, padding=padding)
    right = F.cross_entropy(scores, smoothed_target(target, 12, smoothing, padding), reduction="sum")
    torch.testing.assert_close(total, right, rtol=0, atol=1e-12)
    torch.testing.assert_close(nll, F.cross_entropy(scores, target, reduction="sum"), rtol=0, atol=1e-12)
    assert not nll.requires_grad
    (ours,) = torch.autograd.grad(-0.7 * total, scores)
    (theirs,) = torch.autograd.grad(-0.7 * right, scores)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_the_scores_stay_as_they_are_and_a_second_backward_raises():
    scores = torch.randn(4, 6, requires_grad=True)
    before = scores.detach().clone()
    total, _ = vocabulary_cross_entropy(scores, torch.tensor([1, 2, 3, 4]), label_smoothing=0.1)
    total.backward(retain_graph=True)
    assert torch.equal(scores, before)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_summed_in_float32(dtype):
    torch.manual_seed(0)
    scores = torch.randn(600, 50, dtype=dtype, requires_grad=True)
    target = torch.randint(1, 50, (600,))
    total, nll = vocabulary_cross_entropy(scores, target)
    exact = F.cross_entropy(scores.double(), target, reduction="sum")
    assert total.dtype == nll.dtype == torch.float32
    assert total.item() == pytest.approx(exact.item(), rel=1e-6)
    (gradient,) = torch.autograd.grad(total, scores)
    (right,) = torch.autograd.grad(exact, scores)
    torch.testing.assert_close(gradient, right)


def test_the_sum_over_real_tokens_and_their_number():
    network, batch = Toy(), pairs()
    loss = CrossEntropy(label_smoothing=0.1)(network, batch, spec=SPEC, step=0, need_weights=True)
    log_probs = batch.target_packing.unpack(network(batch).logits.log_softmax(-1))
    nll = total = 0.0
    for b, target in enumerate(TARGETS):
        for t, token in enumerate(target):
            row = log_probs[b, t].tolist()
            nll -= row[token]
            total -= 0.9 * row[token] + 0.1 / 7 * sum(row[1:])
    smoothed, plain = loss.terms
    assert (smoothed.name, smoothed.count, smoothed.weight) == ("cross_entropy", 13, 1)
    assert (plain.name, plain.count, plain.weight) == ("nll", 13, 0)
    assert smoothed.total.item() == pytest.approx(total, abs=1e-12)
    assert plain.total.item() == pytest.approx(nll, abs=1e-12)
    assert loss.output.attention["source"].shape == (4, 5, 5)
    assert not CrossEntropy()(network, batch, spec=SPEC, step=0, need_weights=False).output.attention


def extended(network, sources, targets, extra, width):
    """Output of `network`, where each source has its number `extra` of the `width` columns after the vocabulary."""
    batch = pairs(sources, targets)
    read = pairs(sources, [[min(token, 7) for token in target] for target in targets])  # the network embeds only these
    logits = F.pad(network(read).logits, (0, width), value=2.5)  # such as the scores of words to be copied
    columns = torch.arange(SPEC.target_size + width) < SPEC.target_size + torch.tensor(extra)[:, None]
    return Output(logits, possible=columns), batch


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_a_loss_is_over_the_columns_that_an_example_has(smoothing):
    """A sum by hand over V - 1 columns and those of its own."""
    network, extra, targets = Toy(), (2, 0, 3, 1), [[4, 8, 3], [6, 6, 7, 4, 3], [10, 3], [5, 4, 7, 3]]
    output, batch = extended(network, SOURCES, targets, extra, 3)
    together, nll = token_terms(output, batch, label_smoothing=smoothing, padding=SPEC.padding)
    scores = batch.target_packing.unpack(output.logits)
    expected = plain = 0.0
    for b, (target, more) in enumerate(zip(targets, extra, strict=True)):
        for t, token in enumerate(target):
            row = scores[b, t, : SPEC.target_size + more].log_softmax(0).tolist()
            plain -= row[token]
            expected -= (1 - smoothing) * row[token] + smoothing / (len(row) - 1) * sum(row[1:])
    assert together.total.item() == pytest.approx(expected, rel=1e-12)
    assert nll.total.item() == pytest.approx(plain, rel=1e-12)
    assert not nll.total.requires_grad
    assert all(gradient.isfinite().all() for gradient in gradients(together.total, network).values())


def test_the_columns_of_each_example_reach_what_is_read_step_by_step():
    """A walk that reads the true tokens gives the loss of `forward`, over the columns that `start` names."""
    columns = torch.arange(SPEC.target_size) < torch.tensor([[8], [8], [5], [8]])

    class Knows(Toy):
        def start(self, batch):
            return replace(super().start(batch), possible=columns)

    network, batch = Knows(), pairs()
    walked = walk(network, batch, lambda log_probs, truth: truth, need_weights=False)
    forward = Output(network(batch).logits, possible=columns)
    ours, right = (token_terms(one, batch, label_smoothing=0.2, padding=0)[0].total for one in (walked, forward))
    torch.testing.assert_close(ours, right, rtol=0, atol=1e-12)
