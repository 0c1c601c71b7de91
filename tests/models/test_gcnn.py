"""GCNN against the paper's equations as loops, its receptive field, and the adaptive softmax."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.contract import by_steps
from tests.families import family_of
from tests.models.equations import DOUBLE, assert_constant_cost, assert_drops, assert_same_gradients, halve, stacked
from zoo.data.language.batch import LanguageSpec, StreamBatch
from zoo.models import GCNN

STREAMS = family_of("language_modeling")
BATCH = STREAMS.batch(1, empty=False)
SMALL = {"embedding_dim": 4, "dropout": 0.0}
BOTTLENECK = [[5, 3], [3, 1, 0], [3, 4, 0], [6, 1, 3], [6, 2, 2]]
WAYS = {"plain": {"layers": 2, "hidden_dim": 5, "kernel_size": 3}, "bottleneck": {"layers": BOTTLENECK}}
WAYS |= {"adaptive": {"layers": [[5, 3], [17, 2]], "cutoffs": [3, 7]}}


def build(settings, spec=STREAMS.spec):
    """A model of doubles with every gain and bias away from its start."""
    torch.manual_seed(0)
    model = GCNN(spec, **SMALL | settings).to(DOUBLE).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("length", "bias")):
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def affine(linear, x):
    rows = [g * v / v.square().sum().sqrt() for g, v in zip(linear.length, linear.direction, strict=True)]
    return torch.stack(rows) @ x + linear.bias


def literal(model, layers, read, keep=1.0):
    """The log-probabilities (T, V) of a text; `keep` multiplies what is dropped out."""
    h = [affine(model.inward, keep * model.embedding.weight[token]) for token in read]
    inputs = [h]
    for block, (_, kernel, back) in zip(model.blocks, layers, strict=True):
        after = []
        for t in range(len(h)):
            window = [keep * h[s] if s >= 0 else torch.zeros_like(h[0]) for s in range(t - kernel + 1, t + 1)]
            value, gate = affine(block.convolution, torch.cat(window)).chunk(2)
            y = value * (1 / (1 + (-gate).exp()))
            if back:
                x = inputs[len(inputs) - back][t]
                y = (y + (x if len(x) == len(y) else affine(block.residual, x))) * math.sqrt(0.5)
            after.append(y)
        h = after
        inputs.append(h)
    if isinstance(model.vocabulary, nn.AdaptiveLogSoftmaxWithLoss):
        return torch.stack([adaptive(model.vocabulary, x) for x in h])
    scores = [affine(model.vocabulary, keep * affine(model.outward, x)) for x in h]
    return torch.stack(scores).log_softmax(-1)


def adaptive(softmax, x):
    """log p(word) = log p(cluster) + log p(word | cluster), for all words."""
    head = softmax.head.weight @ x
    head = head - head.exp().sum().log()
    first = len(head) - len(softmax.tail)
    parts = [head[:first]]
    for cluster, (narrow, words) in enumerate(softmax.tail):
        scores = words.weight @ (narrow.weight @ x)
        parts.append(head[first + cluster] + scores - scores.exp().sum().log())
    return torch.cat(parts)


def texts(batch):
    return [row[mask].tolist() for row, mask in zip(batch.target_input, batch.target_mask, strict=True)]


def layers_of(settings):
    listed = settings["layers"]
    listed = [[settings["hidden_dim"], settings["kernel_size"]]] * listed if isinstance(listed, int) else listed
    return [(*size, 1) if len(size) == 2 else tuple(size) for size in listed]


@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)
def test_equals_the_equations_written_as_loops(settings):
    model = build(settings)
    rows = [(literal(model, layers_of(settings), text), None) for text in texts(BATCH)]
    expected, _ = stacked(BATCH, rows)
    found = model(BATCH).logits.log_softmax(-1)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    random = torch.randn_like(expected)
    assert_same_gradients(model, (found * random).sum(), (expected * random).sum())
    log_probs, _ = by_steps(model, BATCH, STREAMS.without_targets(BATCH))
    torch.testing.assert_close(BATCH.forced.packing.pack(log_probs), expected, rtol=1e-10, atol=1e-10)


def test_dropout_is_before_every_map_that_the_header_names(monkeypatch):
    halve(monkeypatch)
    settings = WAYS["bottleneck"]
    model = build(settings)
    model.dropout.p = 0.5
    rows = [(literal(model, layers_of(settings), text, keep=0.5), None) for text in texts(BATCH)]
    scores = model.scores
    monkeypatch.setattr(model, "scores", lambda states: scores(states).log_softmax(-1))
    plain = build(settings)
    monkeypatch.setattr(plain, "scores", lambda states, own=plain.vocabulary: own(states).log_softmax(-1))
    assert_drops(model, plain, BATCH, rows, STREAMS.without_targets(BATCH))


GCNN_14 = [[4, 6]] * 3 + [[4, 1]] + [[4, 5]] * 4 + [[4, 1]] + [[4, 4]] * 3 + [[5, 4], [6, 4]]
GCNN_14B = [[4, 5], *[[2, 1, 0], [2, 5, 0], [4, 1, 3]] * 3, *[[4, 1, 0], [4, 5, 0], [5, 1, 3]] * 10]
FIELDS = {"GCNN-14": (GCNN_14, 47), "GCNN-14B": (GCNN_14B, 57), "GCNN-13": ([[4, 4]] * 13, 40)}


@pytest.mark.parametrize(("layers", "field"), FIELDS.values(), ids=FIELDS)
def test_the_receptive_field(layers, field):
    """The scores after token t depend on the tokens t - R < s <= t and on no others."""
    length, t = 70, 62
    spec = LanguageSpec(vocabulary_size=length)  # each token occurs once, so that its embedding is its place
    model = build({"layers": layers}, spec)
    ids = torch.arange(length)[None]
    batch = StreamBatch(
        index=torch.zeros(1).long(), target=ids, target_input=ids, target_mask=torch.ones_like(ids, dtype=torch.bool)
    )
    (gradient,) = torch.autograd.grad(model(batch).logits[t].sum(), model.embedding.weight)
    reached = gradient.abs().sum(1).nonzero().flatten().tolist()
    assert reached == list(range(t - field + 1, t + 1))


def test_a_step_costs_the_same_at_every_position():
    assert_constant_cost(build(WAYS["bottleneck"]), 10, 1000)


def test_the_adaptive_softmax_is_a_distribution_and_gives_surprisals_without_all_scores():
    model = build(WAYS["adaptive"])
    output, cheap = model(BATCH), model(BATCH, need_scores=False)
    torch.testing.assert_close(output.logits.exp().sum(1), torch.ones(len(output.logits), dtype=DOUBLE))
    expected = F.cross_entropy(output.logits, BATCH.true_tokens, reduction="none")
    torch.testing.assert_close(cheap.surprisal, expected, rtol=1e-12, atol=1e-12)
    assert cheap.logits.shape == (len(expected), 0)
    assert build(WAYS["plain"])(BATCH, need_scores=False).surprisal is None
    one = STREAMS.part(BATCH, [1])  # a batch of a single token
    torch.testing.assert_close(model(one, need_scores=False).surprisal, expected[BATCH.forced.packing.row == 1])


def test_surprisals_in_half_precision():
    model = build(WAYS["adaptive"])
    expected = model(BATCH, need_scores=False).surprisal.detach().float()
    with torch.autocast("cpu", torch.bfloat16):
        found = model.float()(BATCH, need_scores=False).surprisal
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=0.05, atol=0.05)
    torch.testing.assert_close(
        model.bfloat16()(BATCH, need_scores=False).surprisal.float(), expected, rtol=0.1, atol=0.1
    )


def test_the_start_is_that_of_the_authors_code():
    torch.manual_seed(0)
    keep, spec = 0.75, LanguageSpec(vocabulary_size=900)
    layers = [[192, 3], [128, 5]]
    plain = GCNN(spec, embedding_dim=160, layers=layers, dropout=0.25)
    deviations = {
        "inward": (keep / 160) ** 0.5,
        "blocks.0.convolution": (4 * keep / (3 * 192)) ** 0.5,
        "blocks.1.convolution": (4 * keep / (5 * 192)) ** 0.5,
        "blocks.1.residual": (1 / 192) ** 0.5,
        "outward": (1 / 128) ** 0.5,
        "vocabulary": (keep / 160) ** 0.5,
    }
    modules = dict(plain.named_modules())
    for name, deviation in deviations.items():
        assert modules[name].weight().std().item() == pytest.approx(deviation, rel=0.03), name
        assert (modules[name].bias == 0).all()
    assert plain.embedding.weight.std().item() == pytest.approx(0.1, rel=0.03)
    softmax = GCNN(spec, layers=layers, cutoffs=[100, 300]).vocabulary
    for weight in softmax.parameters():
        assert weight.std().item() == pytest.approx((2 / sum(weight.shape)) ** 0.5, rel=0.03)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": []}, "layers: the list is empty"),
        ({"layers": [[4]]}, r"layers: \[4\] is number 1"),
        ({"layers": [[4, 0]]}, "the first two from 1 on"),
        ({"layers": [[4, 2], [4, 2, 3]]}, "the third up to 2"),
        ({"layers": [[4, 2, 1, 1]]}, r"expected \[channels, kernel, back\]"),
        ({"cutoffs": [4, 4]}, r"cutoffs=\[4, 4\]: expected rising numbers below the vocabulary of 11"),
        ({"cutoffs": [11]}, "below the vocabulary of 11"),
        ({"cutoffs": []}, r"cutoffs=\[\]: expected rising numbers"),
        ({"cutoffs": [2, 5], "hidden_dim": 15}, "2 of them need 16 channels in the last convolution, which has 15"),
    ],
)
def test_wrong_sizes_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        GCNN(STREAMS.spec, **SMALL | settings)
