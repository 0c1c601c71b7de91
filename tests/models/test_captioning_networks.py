"""Networks that caption images: what is computed once for an image, and the Transformer over cells against the one over
words, which is held to its equations."""

import math
import re

import pytest
import torch
from torch import nn

from tests.catalogue import ROOT
from tests.models.cells import ENCODER, PICTURE, PIXELS, SMALL, SPEC, batch_of, captions, cells_of, pixels
from tests.models.equations import assert_equal, assert_same_gradients, drop_all
from tests.models.test_equations import caption_rnnsearch, model_of, show_and_tell, show_attend_tell
from tests.models.test_transformer import only_norms
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.models import CaptionTransformer, Transformer
from zoo.run.compose import compose

SIZES = {"hidden_dim": 8, "layers": 2, "heads": 2, "feedforward_dim": 12, "dropout": 0.0}
WAYS = [
    {"encoder_layers": 2},
    {"encoder_layers": 2, "norm": "pre", "positions": "learned"},
    {"encoder_layers": 2, "norm": "pre", "tied": "target"},
]
BY_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))


def transformer(spec=SPEC, encoder=ENCODER, **way):
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
    model, batch = transformer(**way), batch_of()
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
    model, batch = transformer(encoder_layers=None, norm=norm), batch_of(targets=False)
    assert not list(model.encoder_layers.parameters())
    state = model.start(batch)
    for row, picture in enumerate(PICTURE):
        for number, cell in enumerate(cells_of(batch.image[picture])):
            x = model.cells.weight @ cell + model.cells.bias + model.source_positions(torch.tensor(number))
            x = model.encoder_norm(x) if norm == "pre" else x
            key, value = model.decoder[1].cross_attention.keys_values(x).view(2, 2, 4)  # two heads, four numbers each
            torch.testing.assert_close(state.memory["keys.1"][row, :, number], key)
            torch.testing.assert_close(state.memory["values.1"][row, :, number], value)


ONCE = [
    (show_and_tell, {"feed": "once"}, "encoder image"),
    (show_and_tell, {"feed": "every_step"}, "encoder image"),
    (caption_rnnsearch, {}, "encoder initial_state score.key_projection decoder_context"),
    (show_attend_tell, {"energy": "deep_tanh"}, "encoder key deep_key initial initial_hidden initial_cell"),
    (transformer, {"encoder_layers": 1}, "encoder cells encoder_layers.0.feedforward"),
]


@pytest.mark.parametrize(("network", "way", "parts"), ONCE, ids=lambda one: getattr(one, "__name__", str(one)))
def test_an_image_is_read_once_however_many_captions_it_has(network, way, parts):
    """Its parts compute for three images, not for their five captions, in `forward` and in `start`."""
    given = {"spec": PIXELS, "encoder": SMALL} | way
    model, seen = transformer(**given) if network is transformer else model_of(network, **given), []
    if network is transformer:
        for layer in model.decoder:
            projected = layer.cross_attention.keys_values
            layer.cross_attention.keys_values = lambda x, f=projected: (seen.append(len(x)), f(x))[1]
    for part in parts.split():
        model.get_submodule(part).register_forward_hook(lambda module, given, output: seen.append(len(output)))
    model(batch_of(pixels()))
    assert seen == [3] * (calls := len(parts.split()) + 2 * (network is transformer))
    model.start(batch_of(pixels(), targets=False))
    assert set(seen) == {3} and calls < len(seen) <= 2 * calls


def test_dropout_acts_on_the_cells_and_the_words_and_the_output_of_every_sublayer():
    model, batch = transformer(dropout=0.5, encoder_layers=1), batch_of()
    drop_all(model, 0.5)  # nothing is left but the norms
    expected = model.vocabulary(only_norms(model.decoder)).expand(len(batch.true_tokens), -1)
    assert_equal(model.train()(batch).logits, expected)
    cells = model.encode(batch, False)[0].vectors
    assert_equal(cells, only_norms(model.encoder_layers).expand_as(cells))


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "cosine"])
def test_a_key_as_wide_as_the_state_is_a_projection_of_its_cell(score):
    model, batch = model_of(caption_rnnsearch, score=score), batch_of(targets=False)
    expected = model.score.prepare(batch.image.flatten(2).transpose(1, 2) @ model.key.weight.T)[batch.picture]
    torch.testing.assert_close(model.start(batch).memory["keys"], expected)
    assert not list(model_of(caption_rnnsearch).key.parameters())


@pytest.mark.parametrize("data", ["flickr8k", "flickr30k", "coco"])
def test_the_papers_runs_weigh_their_terms_beside_a_mean_over_words(data):
    """The weights are those of the authors' code for a likelihood summed over a caption, divided by the number of words
    that the header gives. RMSProp's epsilon is added to squares of gradients."""
    for attention in ("soft", "hard"):
        name = f"show_attend_tell_{data}" + "_hard" * (attention == "hard")
        text = (ROOT / f"conf/experiment/{name}.yaml").read_text(encoding="utf-8")
        words = float(re.search(r"caption has about ([\d.]+) words", text)[1])
        run = compose([f"experiment={name}"])
        assert run.model.attention == attention
        if attention == "soft":
            penalty = run.regularizer.doubly_stochastic
            assert (penalty.weight * words, penalty.tau) == (pytest.approx(64 / 196, rel=0.03), 1)
        else:
            assert run.model.hard.reward * words == pytest.approx(0.1, rel=0.03)
            assert run.model.hard.entropy * words == pytest.approx(0.002, rel=0.03)
            assert run.model.hard.divide_by == "nothing"
        if run.hydra.runtime.choices.optimizer == "rmsprop_graves":
            assert run.optimizer.eps * words**2 == pytest.approx(1e-4, rel=0.03)
