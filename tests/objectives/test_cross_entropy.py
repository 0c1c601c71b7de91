"""The vocabulary's cross-entropy against its formula and torch's, in value and gradient, and what padding costs."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from tests.objectives.toy import SOURCES, SPEC, TARGETS, Toy, gradients, pairs
from zoo.data.pairs.batch import PairBatch
from zoo.errors import ConfigError
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


def test_it_is_none_of_the_three_public_conventions():
    """Ten classes with padding, smoothing 0.1, two tokens: fairseq, JoeyNMT and torch give each something else."""
    scores, target, s = (
        torch.linspace(-3, 4, 20, dtype=torch.float64).sin().mul(3).view(2, 10),
        torch.tensor([1, 6]),
        0.1,
    )
    log_probs = scores.log_softmax(1)
    right = F.one_hot(target, 10).double()
    real = (torch.arange(10) != 0).double()
    fairseq = (1 - s) * right + s / 9 * (1 - right)
    joey = (1 - s) * right + s / 8 * (1 - right) * real
    torchs = (1 - s) * right + s / 10
    ours, _ = vocabulary_cross_entropy(scores, target, label_smoothing=s, padding=0)
    found = [-(q * log_probs).sum().item() for q in (fairseq, joey, torchs)]
    assert found[2] == pytest.approx(F.cross_entropy(scores, target, label_smoothing=s, reduction="sum").item())
    assert ours.item() == pytest.approx(-(((1 - s) * right + s / 9 * real) * log_probs).sum().item(), rel=1e-12)
    assert all(abs(ours.item() - other) > 1e-3 for other in found)


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


def test_log_probabilities_do_for_logits():
    torch.manual_seed(0)
    scores = torch.randn(7, 6, dtype=torch.float64, requires_grad=True)
    target = torch.randint(1, 6, (7,))
    found = []
    for given in (scores, scores.log_softmax(1)):
        total, _ = vocabulary_cross_entropy(given, target, label_smoothing=0.1)
        found.append((total, *torch.autograd.grad(total, scores)))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


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


def test_autocast():
    torch.manual_seed(0)
    linear, x, target = torch.nn.Linear(8, 40), torch.randn(30, 8), torch.randint(1, 40, (30,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = linear(x)
        total, _ = vocabulary_cross_entropy(scores, target, label_smoothing=0.1)
    assert scores.dtype == torch.bfloat16
    assert total.dtype == torch.float32
    total.backward()
    exact = F.linear(x, linear.weight, linear.bias).double()
    right = F.cross_entropy(exact, smoothed_target(target, 40, 0.1, 0), reduction="sum")
    (gradient,) = torch.autograd.grad(right, linear.weight)
    assert total.item() == pytest.approx(right.item(), rel=2e-3)
    assert (linear.weight.grad - gradient).norm() < 0.02 * gradient.norm()


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
    """A sum by hand over V - 1 columns and those of its own, and the same in whatever batch an example is."""
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
    alone = []
    for source, target, more in zip(SOURCES, targets, extra, strict=True):
        one = extended(network, [source], [target], [more], more)
        alone.append(token_terms(*one, label_smoothing=smoothing, padding=SPEC.padding)[0].total)
    torch.testing.assert_close(together.total, sum(alone), rtol=0, atol=1e-12)
    found, right = gradients(together.total, network), gradients(sum(alone), network)
    for ours, theirs in zip(found.values(), right.values(), strict=True):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


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


def test_padding_gives_no_loss_and_no_gradient():
    """The loss of a batch is the sum of the losses of its pairs, and ids at padding do not matter."""
    network, objective = Toy(), CrossEntropy(label_smoothing=0.2)
    whole = objective(network, pairs(), spec=SPEC, step=0, need_weights=False).terms[0]
    alone = [
        objective(network, pairs([source], [target]), spec=SPEC, step=0, need_weights=False).terms[0].total
        for source, target in zip(SOURCES, TARGETS, strict=True)
    ]
    torch.testing.assert_close(whole.total, sum(alone), rtol=0, atol=1e-12)
    batch = pairs()
    scribbled = PairBatch(
        batch.source,
        batch.source_mask,
        target=batch.target.masked_fill(~batch.target_mask, 5),
        target_mask=batch.target_mask,
    )
    other = objective(network, scribbled, spec=SPEC, step=0, need_weights=False).terms[0]
    torch.testing.assert_close(whole.total, other.total, rtol=0, atol=1e-12)
    for ours, theirs in zip(
        gradients(whole.total, network).values(), gradients(sum(alone), network).values(), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_a_share_that_is_none_raises(share):
    with pytest.raises(ConfigError, match="label_smoothing"):
        CrossEntropy(label_smoothing=share)
