"""ConvS2S against the paper's equations as loops over sentences."""

import math

import pytest
import torch
from torch.nn import functional as F

from tests.contract import by_steps
from tests.families import family_of
from tests.models.equations import DOUBLE, assert_drops, assert_same_gradients, halve, pairs_of, stacked
from zoo.data.pairs.batch import PairSpec
from zoo.models import ConvS2S

PAIRS = family_of("translation")
SPEC, BATCH = PAIRS.spec, PAIRS.batch(1, empty=False)
SMALL = {"embedding_dim": 6, "hidden_dim": 5, "output_dim": 4, "positions": 12, "dropout": 0.0}
DEEP = {**SMALL, "encoder_layers": 2, "decoder_layers": 3}
WIDE = {**SMALL, "encoder_layers": [[4, 3], [6, 1], [6, 5]], "decoder_layers": [[4, 2], [7, 3], [7, 1]]}


def build(settings, seed=0):
    """A model of doubles with every parameter away from its start."""
    torch.manual_seed(seed)
    model = ConvS2S(SPEC, **settings).to(DOUBLE).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("length", "bias")):
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def matrix(linear):
    """W of V and g, row by row."""
    rows = zip(linear.length, linear.direction, strict=True)
    return torch.stack([g * v / v.square().sum().sqrt() for g, v in rows])


def affine(linear, x):
    return matrix(linear) @ x + linear.bias


def convolve(convolution, frames, before, after):
    """[A; B] of all positions by torch's convolution, then A * sigmoid(B)."""
    kernel, channels = convolution.kernel, len(frames[0])
    weight = matrix(convolution).view(-1, kernel, channels).transpose(1, 2)
    x = torch.cat([frames[0].new_zeros(before, channels), torch.stack(frames), frames[0].new_zeros(after, channels)])
    sums = F.conv1d(x.T[None], weight, convolution.bias)[0].T
    width = sums.shape[1] // 2
    return [row[:width] * (1 / (1 + (-row[width:]).exp())) for row in sums]


def through(block, x):
    return x if block.residual is None else affine(block.residual, x)


def embedded(words, positions, ids):
    return [words.weight[token] + positions.weight[min(i, len(positions.weight) - 1)] for i, token in enumerate(ids)]


def encode(model, source, keep=1.0):
    """z and e of each source word; `keep` multiplies what is dropped out."""
    e = [keep * x for x in embedded(model.source_embedding, model.source_positions, source)]
    h = [affine(model.encoder_in, x) for x in e]
    for block in model.encoder:
        k = block.convolution.kernel
        y = convolve(block.convolution, [keep * x for x in h], k // 2, k // 2)
        h = [(new + through(block, old)) * math.sqrt(0.5) for new, old in zip(y, h, strict=True)]
    return [affine(model.encoder_out, x) for x in h], e


def decode(model, z, e, read, keep=1.0):
    """The logits of each target position, and the weights of each layer."""
    g = [keep * x for x in embedded(model.target_embedding, model.target_positions, read)]
    h, weights = [affine(model.decoder_in, x) for x in g], []
    for block in model.decoder:
        y = convolve(block.convolution, [keep * x for x in h], block.convolution.kernel - 1, 0)
        after, rows = [], []
        for i, new in enumerate(y):
            d = (affine(block.query, new) + g[i]) * math.sqrt(0.5)
            exponentials = [(d @ z[j]).exp() for j in range(len(z))]
            a = [value / sum(exponentials) for value in exponentials]
            c = sum(a[j] * (z[j] + e[j]) * math.sqrt(0.5) for j in range(len(z)))
            c = c * len(z) * math.sqrt(1 / len(z))
            new = (affine(block.context, c) + new) * math.sqrt(0.5)
            after.append((new + through(block, h[i])) * math.sqrt(0.5))
            rows.append(torch.stack(a))
        h = after
        weights.append(torch.stack(rows))
    return torch.stack([affine(model.vocabulary, keep * affine(model.decoder_out, x)) for x in h]), weights


def literal(model, source, read, factor):
    """Logits and weights of one pair; the gradient into z times `factor`."""
    z, e = encode(model, source)
    return decode(model, [factor * x + (1 - factor) * x.detach() for x in z], e, read)


@pytest.mark.parametrize(
    "settings", [DEEP, WIDE, DEEP | {"positions": 3}], ids=["one width", "many widths", "longer than the tables"]
)
def test_equals_the_equations_written_as_loops(settings):
    """A position beyond a table takes its last row."""
    model = build(settings)
    output, layers = model(BATCH), len(model.decoder)
    logits, weights = zip(*(literal(model, *pair, 1 / (2 * layers)) for pair in pairs_of(BATCH)), strict=True)
    for layer in range(layers):
        rows = zip(logits, (one[layer] for one in weights), strict=True)
        expected, attended = stacked(BATCH, list(rows))
        assert_close(output.attention[f"source.{layer}"], attended)
    assert_close(output.logits, expected)
    random = torch.randn_like(expected)
    assert_same_gradients(model, (output.logits * random).sum(), (expected * random).sum())
    log_probs, _ = by_steps(model, BATCH, PAIRS.without_targets(BATCH))
    assert_close(BATCH.target_packing.pack(log_probs), expected.log_softmax(-1))


def assert_close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


def test_dropout_stands_before_every_convolution_behind_the_embeddings_and_before_the_vocabulary(monkeypatch):
    halve(monkeypatch)
    model = build(WIDE)
    model.dropout.p = 0.5
    rows = [
        (decode(model, *encode(model, source, keep=0.5), read, keep=0.5)[0], None) for source, read in pairs_of(BATCH)
    ]
    assert_drops(model, build(WIDE), BATCH, rows, PAIRS.without_targets(BATCH))


def test_the_start_is_the_papers():
    torch.manual_seed(0)
    spec, keep = PairSpec(700, 900, 9, 9), 0.75
    model = ConvS2S(
        spec, embedding_dim=160, encoder_layers=[[192, 3], [128, 5]], decoder_layers=[[128, 3]], output_dim=144,
        positions=300, dropout=0.25,
    )  # fmt: skip
    deviations = {
        "encoder_in": (keep / 160) ** 0.5,
        "encoder.0.convolution": (4 * keep / (3 * 192)) ** 0.5,
        "encoder.1.convolution": (4 * keep / (5 * 192)) ** 0.5,
        "encoder.1.residual": (1 / 192) ** 0.5,
        "encoder_out": (1 / 128) ** 0.5,
        "decoder_in": (keep / 160) ** 0.5,
        "decoder.0.convolution": (4 * keep / (3 * 128)) ** 0.5,
        "decoder.0.query": (1 / 128) ** 0.5,
        "decoder.0.context": (1 / 160) ** 0.5,
        "decoder_out": (1 / 128) ** 0.5,
        "vocabulary": (keep / 144) ** 0.5,
    }
    modules = dict(model.named_modules())
    for name, deviation in deviations.items():
        weight = modules[name].weight().detach()
        assert abs(float(weight.std()) / deviation - 1) < 0.03, name
        torch.testing.assert_close(modules[name].length.detach(), modules[name].direction.detach().norm(dim=1))
        assert (modules[name].bias == 0).all()
    tables = ("source_embedding", "source_positions", "target_embedding", "target_positions")
    for name in tables:
        table = modules[name].weight.detach()
        assert abs(float(table[1:].std()) / 0.1 - 1) < 0.03, name
        assert (table[0] == 0).all() == name.endswith("embedding")
    parts = {name.rpartition(".")[0] for name, _ in model.named_parameters()}
    assert parts == {*deviations, *tables}  # nothing has plain weights but the look-up tables


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"encoder_layers": []}, "encoder_layers is a number"),
        ({"decoder_layers": []}, "decoder_layers is a number"),
        ({"decoder_layers": [[4, 0]]}, r"decoder_layers=\[\[4, 0\]\]: expected .* from 1 on"),
        ({"decoder_layers": [[4]]}, "all positive"),
        ({"kernel_size": 4}, "odd"),
        ({"encoder_layers": [[4, 3], [4, 2]]}, "odd, so that each has a middle; got 2"),
    ],
)
def test_wrong_sizes_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        ConvS2S(SPEC, **{**DEEP, **settings})
