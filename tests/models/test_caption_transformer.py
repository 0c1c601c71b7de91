"""The Transformer over images against the Transformer over words, which is held to its equations; what is done once."""

import math

import pytest
import torch
from torch import nn

from tests.models.cells import (
    ENCODER,
    PICTURE,
    PIXELS,
    SMALL,
    SPEC,
    assert_made_once,
    batch_of,
    captions,
    cells_of,
)
from tests.models.equations import DOUBLE, assert_same_gradients, drop_all
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.models import CaptionTransformer, Transformer

SIZES = {"hidden_dim": 8, "layers": 2, "heads": 2, "feedforward_dim": 12, "dropout": 0.0}
WAYS = [
    {"encoder_layers": 2},
    {"encoder_layers": 2, "norm": "pre", "positions": "learned"},
    {"encoder_layers": 2, "norm": "pre", "tied": "target"},
]
BY_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))


def model_of(spec=SPEC, encoder=ENCODER, **way):
    """In double precision, with biases and norms that are not those they start with."""
    torch.manual_seed(0)
    model = CaptionTransformer(spec, encoder=encoder, **SIZES | way).double()
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, 1.0 if "norm.weight" in name else 0.0, 0.3)
    return model


def translate(model, batch, way):
    """The output of a Transformer with the weights of `model`, which reads the images as sentences of words.

    The cells of the batch are the source vocabulary, and their projections are its embeddings.
    """
    way = {key: value for key, value in way.items() if key != "encoder_layers"}
    images, places = len(batch.image), SPEC.cells
    words = torch.stack(
        [model.cells.weight @ cell + model.cells.bias for image in batch.image for cell in cells_of(image)]
    )
    spec = PairSpec(images * places, SPEC.target_size, places, SPEC.longest_target)
    reader = Transformer(spec, **SIZES | way).double()
    weights = {
        name.replace("encoder_layers.", "encoder."): parameter
        for name, parameter in model.named_parameters()
        if not name.startswith("cells.")
    }
    weights["source_embedding.weight"] = words / math.sqrt(SIZES["hidden_dim"])
    assert weights.keys() >= {name for name, _ in reader.named_parameters()}
    source = torch.arange(images * places).view(images, places)[torch.tensor(PICTURE)]
    target, mask = captions()
    pairs = PairBatch(source, torch.ones_like(source, dtype=torch.bool), target=target, target_mask=mask)
    return torch.func.functional_call(reader, weights, (pairs,))


@BY_WAY
def test_equals_the_transformer_that_reads_cells_as_words(way):
    model, batch = model_of(**way), batch_of()
    output, expected = model(batch), translate(model, batch, way)
    assert list(output.attention) == [f"{kind}.{n}" for n in range(2) for kind in ("decoder", "source")]
    torch.testing.assert_close(output.logits, expected.logits, rtol=1e-10, atol=1e-10)
    for name, weights in output.attention.items():
        torch.testing.assert_close(weights, expected.attention[name], rtol=1e-10, atol=1e-12)
    random = torch.randn_like(output.logits)
    theirs = (expected.logits * random).sum()
    assert_same_gradients(model, (output.logits * random).sum(), theirs)
    logits = model(batch, need_weights=False).logits
    assert_same_gradients(model, (logits * random).sum(), (translate(model, batch, way).logits * random).sum())


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_without_layers_between_cells_the_decoder_looks_at_the_cells_as_they_are_read(norm):
    model, batch = model_of(encoder_layers=None, norm=norm), batch_of(targets=False)
    assert not list(model.encoder_layers.parameters())
    state = model.start(batch)
    for row, picture in enumerate(PICTURE):
        for number, cell in enumerate(cells_of(batch.image[picture])):
            x = model.cells.weight @ cell + model.cells.bias + model.source_positions(torch.tensor(number))
            x = model.encoder_norm(x) if norm == "pre" else x
            key, value = model.decoder[1].cross_attention.keys_values(x).view(2, 2, 4)  # two heads, four numbers each
            torch.testing.assert_close(state.memory["keys.1"][row, :, number], key)
            torch.testing.assert_close(state.memory["values.1"][row, :, number], value)


def test_what_is_made_of_a_cell_is_made_once_however_many_captions_an_image_has(monkeypatch):
    model, seen = model_of(PIXELS, SMALL, encoder_layers=1), []
    for layer in model.decoder:
        projected = layer.cross_attention.keys_values
        monkeypatch.setattr(
            layer.cross_attention, "keys_values", lambda cells, f=projected: (seen.append(len(cells)), f(cells))[1]
        )
    assert_made_once(model, [model.encoder, model.cells, model.encoder_layers[0].feedforward], steps=True)
    assert seen == [3] * 4


def test_dropout_acts_on_the_cells_and_the_words_and_the_output_of_every_sublayer():
    model = model_of(dropout=0.5, encoder_layers=1)
    drop_all(model, 0.5)  # nothing is left but the norms
    batch = batch_of()
    x = torch.zeros(1, 8, dtype=DOUBLE)
    for layer in model.decoder:
        for residual in (layer.self_attention_residual, layer.cross_attention_residual, layer.feedforward_residual):
            x = residual.norm(x)
    expected = model.vocabulary(x).expand(len(batch.true_tokens), -1)
    torch.testing.assert_close(model.train()(batch).logits, expected)
    cells = model.encode(batch, False)[0].vectors
    y = torch.zeros(8, dtype=DOUBLE)
    for residual in (model.encoder_layers[0].self_attention_residual, model.encoder_layers[0].feedforward_residual):
        y = residual.norm(y)
    torch.testing.assert_close(cells, y.expand_as(cells))
