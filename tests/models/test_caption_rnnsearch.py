"""RNNsearch's decoder over images against the equations as slow loops, its start from the mean, what is done once."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from tests.models.cells import (
    DOUBLE,
    ENCODER,
    PIXELS,
    SMALL,
    SPEC,
    TRAINED,
    assert_left_alone,
    batch_of,
    cells_of,
    pixels,
    random_biases,
    read_of,
)
from tests.models.gradients import assert_same_gradients
from tests.models.halved import halve
from tests.models.test_rnnsearch import gru
from zoo.models import CaptionRNNSearch

VARIANTS = [{"score": "dot"}, {"score": "tests.models.own_scores.Bilinear"}]
"""Other ways through the network than its defaults, which keep the contract too."""

SIZES = {"embedding_dim": 4, "hidden_dim": 5, "attention_dim": 7, "maxout_dim": 3}


def model_of(spec=SPEC, encoder=ENCODER, **settings):
    torch.manual_seed(0)
    return random_biases(CaptionRNNSearch(spec, encoder=encoder, **SIZES | settings))


def slow(model, image, read, keep=1.0):
    """Scores (T, V) and weights (T, S) of one caption. `keep` replaces dropout."""
    h = cells_of(image)
    s = (model.initial_state.weight @ (sum(h) / len(h))).tanh()
    w_a, u_a, v_a = model.score.query_projection.weight, model.score.key_projection.weight, model.score.v
    scores, found = [], []
    for token in read:
        y = keep * model.target_embedding.weight[token]
        e = torch.stack([v_a @ (w_a @ s + u_a @ h_j).tanh() for h_j in h])
        a = e.exp() / e.exp().sum()
        c = sum(a_j * h_j for a_j, h_j in zip(a, h, strict=True))
        t = model.output_state.weight @ s + model.output_state.bias
        t = t + model.output_token.weight @ y + model.output_context.weight @ c
        t = torch.stack([torch.maximum(t[2 * i], t[2 * i + 1]) for i in range(len(t) // 2)])
        scores.append(model.vocabulary.weight @ (keep * t))
        found.append(a)
        sums = (model.decoder_token.weight @ y + model.decoder_token.bias + model.decoder_context.weight @ c).chunk(3)
        s = gru(sums, s, *model.decoder_state.weight.chunk(3))
    return torch.stack(scores), torch.stack(found)


def slow_batch(model, batch, keep=1.0):
    """Scores (N, V) in the order of `batch.target_packing` and weights (B, T, S)."""
    scores, weights = [], []
    for row, picture in enumerate(batch.picture.tolist()):
        read = read_of(batch, row)
        found, a = slow(model, batch.image[picture], read, keep)
        missing = batch.target.shape[1] - len(read)
        scores.append(F.pad(found, (0, 0, 0, missing)))
        weights.append(F.pad(a, (0, 0, 0, missing)))
    return batch.target_packing.pack(torch.stack(scores)), torch.stack(weights)


def test_equals_the_equations():
    model, batch = model_of(), batch_of()
    output, (scores, weights) = model(batch), slow_batch(model, batch)
    torch.testing.assert_close(output.logits, scores, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(output.attention["source"], weights, rtol=1e-12, atol=1e-12)
    random = torch.randn_like(scores), torch.randn_like(weights)
    ours, theirs = (
        sum((one * other).sum() for one, other in zip(found, random, strict=True))
        for found in ((output.logits, output.attention["source"]), (scores, weights))
    )
    assert_same_gradients(model, ours, theirs, constant=[("target_embedding.weight", SPEC.begin)])


def test_what_is_made_of_a_cell_is_made_once_however_many_captions_an_image_has():
    model, batch, seen = model_of(PIXELS, SMALL), batch_of(pixels()), []
    for part in (model.encoder, model.initial_state, model.score.key_projection, model.decoder_context):
        part.register_forward_hook(lambda _, given, __: seen.append(len(given[0])))
    model(batch)
    assert seen == [3, 3, 3, 3]


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "cosine"])
def test_a_key_as_wide_as_the_state_is_a_projection_of_its_cell(score):
    model, batch = model_of(score=score), batch_of(targets=False)
    keys = model.start(batch).memory["keys"]
    expected = model.score.prepare(batch.image.flatten(2).transpose(1, 2) @ model.key.weight.T)[batch.picture]
    torch.testing.assert_close(keys, expected)
    assert not list(model_of().key.parameters())


def test_dropout_acts_on_words_and_maxout_units_in_training_alone(monkeypatch):
    halve(monkeypatch)
    model, batch = model_of(dropout=0.5), batch_of()
    assert torch.equal(model(batch).logits, model_of()(batch).logits)
    expected, _ = slow_batch(model.train(), batch, keep=0.5)
    torch.testing.assert_close(model(batch).logits, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("init", ["orthogonal", "paper"])
def test_start(init):
    sizes = {"embedding_dim": 60, "hidden_dim": 80, "attention_dim": 70, "maxout_dim": 50}
    spec = replace(PIXELS, target_size=500)
    torch.manual_seed(0)
    model = CaptionRNNSearch(spec, encoder=SMALL | {"dim": 90}, **sizes, init=init)
    assert_left_alone(CaptionRNNSearch(spec, encoder=TRAINED, **sizes, init=init).encoder)
    for matrix in model.decoder_state.weight.chunk(3):
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(80), rtol=0, atol=1e-5)
    linear = [model.initial_state, model.decoder_token, model.decoder_context, model.output_state, model.output_token]
    for part in (*linear, model.output_context, model.vocabulary):
        glorot = (2 / sum(part.weight.shape)) ** 0.5
        assert part.weight.std().item() == pytest.approx(0.01 if init == "paper" else glorot, rel=0.05)
    for matrix in (model.score.query_projection.weight, model.score.key_projection.weight):
        glorot = (2 / sum(matrix.shape)) ** 0.5
        assert matrix.std().item() == pytest.approx(0.001 if init == "paper" else glorot, rel=0.05)
    assert bool((model.score.v == 0).all()) == (init == "paper")
    assert model.target_embedding.weight.std().item() == pytest.approx(0.01 if init == "paper" else 1.0, rel=0.05)


def test_stored_halves_are_read_in_full_precision():
    model, batch = model_of().float(), batch_of()
    halves = replace(batch, image=batch.image.half())
    expected = model(replace(batch, image=batch.image.half().float())).logits
    assert torch.equal(model(halves).logits, expected)
    assert expected.dtype == torch.float32 != DOUBLE
