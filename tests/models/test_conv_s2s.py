"""ConvS2S against the paper's equations written as loops over single sentences, in values and gradients."""

import pytest
import torch

from tests.contract import by_steps
from tests.models.conv_s2s_loops import (
    DEEP,
    SOURCES,
    SPEC,
    TARGETS,
    WIDE,
    batch_of,
    build,
    decode,
    encode,
    literal,
    probe,
)
from tests.models.equations import assert_drops, assert_same_gradients, halve
from zoo.data.pairs.batch import PairSpec
from zoo.models import ConvS2S


@pytest.mark.parametrize("settings", [DEEP, WIDE], ids=["one width", "many widths"])
def test_equals_the_equations_written_as_loops(settings):
    model, batch = build(settings), batch_of(SOURCES, TARGETS)
    output, weight = model(batch), probe(batch)
    logits, layers = batch.target_packing.unpack(output.logits), len(model.decoder)
    assert set(output.attention) == {f"source.{layer}" for layer in range(layers)}
    loss = 0.0
    for b, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        expected, weights = literal(model, source, target, 1 / (2 * layers))
        torch.testing.assert_close(logits[b, : len(target)], expected, rtol=1e-10, atol=1e-10)
        for layer, a in enumerate(weights):
            found = output.attention[f"source.{layer}"][b]
            torch.testing.assert_close(found[: len(target), : len(source)], a, rtol=1e-10, atol=1e-10)
            assert (found[len(target) :] == 0).all()
            assert (found[:, len(source) :] == 0).all()
        loss = loss + (expected * weight[b, : len(target)]).sum()
    assert_same_gradients(model, (logits * weight).sum(), loss)


def test_a_position_behind_the_table_takes_its_last_row():
    model = build({**DEEP, "positions": 3})
    source, target = [4, 5, 6, 7, 8, 3], [5, 6, 7, 8, 9, 3]
    batch = batch_of([source], [target])
    expected, _ = literal(model, source, target, 1.0)
    log_probs, _ = by_steps(model, batch, batch_of([source]))
    torch.testing.assert_close(model(batch).logits, expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(log_probs[0], expected.log_softmax(-1), rtol=1e-10, atol=1e-10)


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


def test_dropout_stands_before_every_convolution_behind_the_embeddings_and_before_the_vocabulary(monkeypatch):
    halve(monkeypatch)
    model, batch = build(WIDE), batch_of([SOURCES[0]], [TARGETS[1]])
    model.dropout.p = 0.5
    z, e = encode(model, SOURCES[0], keep=0.5)
    rows = [(decode(model, z, e, TARGETS[1], keep=0.5)[0], None)]
    assert_drops(model, build(WIDE), batch, rows, batch_of([SOURCES[0]]))


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
