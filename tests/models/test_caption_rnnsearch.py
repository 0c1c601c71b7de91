"""The equations of RNNsearch's decoder over images as slow loops, and what is done once."""

from dataclasses import replace

import pytest
import torch

from tests.models.cells import (
    ENCODER,
    PIXELS,
    SMALL,
    SPEC,
    assert_made_once,
    batch_of,
    captions_of,
)
from tests.models.equations import DOUBLE, exactly, linear
from tests.models.test_rnnsearch import decode
from zoo.models import CaptionRNNSearch

BATCH = batch_of()
SIZES = {"embedding_dim": 4, "hidden_dim": 5, "attention_dim": 7, "maxout_dim": 3}


def model_of(spec=SPEC, encoder=ENCODER, **settings):
    torch.manual_seed(0)
    return exactly(CaptionRNNSearch(spec, encoder=encoder, **SIZES | settings), biases=True)


def rows(model, batch, keep=1.0):
    for h, read in captions_of(batch):
        yield decode(model, h, linear(model.initial_state, sum(h) / len(h)).tanh(), read, keep)


def test_what_is_made_of_a_cell_is_made_once_however_many_captions_an_image_has():
    model = model_of(PIXELS, SMALL)
    assert_made_once(model, [model.encoder, model.initial_state, model.score.key_projection, model.decoder_context])


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "cosine"])
def test_a_key_as_wide_as_the_state_is_a_projection_of_its_cell(score):
    model, batch = model_of(score=score), batch_of(targets=False)
    keys = model.start(batch).memory["keys"]
    expected = model.score.prepare(batch.image.flatten(2).transpose(1, 2) @ model.key.weight.T)[batch.picture]
    torch.testing.assert_close(keys, expected)
    assert not list(model_of().key.parameters())


def test_stored_halves_are_read_in_full_precision():
    model, batch = model_of().float(), batch_of()
    halves = replace(batch, image=batch.image.half())
    expected = model(replace(batch, image=batch.image.half().float())).logits
    assert torch.equal(model(halves).logits, expected)
    assert expected.dtype == torch.float32 != DOUBLE
