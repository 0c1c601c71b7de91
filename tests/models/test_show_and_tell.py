"""Show and Tell against the paper's equations as slow loops, what it reads and when, its sizes, its start."""

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
from tests.models.equations import (
    DOUBLE,
    assert_drops,
    assert_equals_the_equations,
    exactly,
    halve,
    linear,
    lstm,
)
from zoo.models import ShowAndTell

VARIANTS = [{"feed": "every_step"}]
"""Other ways through the network than its defaults, which keep the contract too."""


def model_of(spec=SPEC, encoder=ENCODER, **settings):
    torch.manual_seed(0)
    sizes = {"embedding_dim": 4, "hidden_dim": 5}
    return exactly(ShowAndTell(spec, encoder=encoder, **sizes | settings), biases=True)


def slow(model, cells, read, keep=1.0):
    """Scores (T, V) of one caption. `keep` multiplies where dropout acts."""
    seen = keep * (model.image.weight @ (sum(cells) / len(cells)))
    m = c = torch.zeros(model.lstm.hidden_size, dtype=DOUBLE)
    if not model.at_every_step:
        m, c = lstm(model.lstm, seen, m, c)  # (10)
    scores = []
    for token in read:
        word = keep * model.embedding.weight[token]
        m, c = lstm(model.lstm, torch.cat([word, seen]) if model.at_every_step else word, m, c)  # (11), (12)
        scores.append(linear(model.vocabulary, keep * m))
    return torch.stack(scores), None


def rows(model, batch, keep=1.0):
    return [slow(model, *caption, keep) for caption in captions_of(batch)]


BOTH = pytest.mark.parametrize("feed", ["once", "every_step"])


@BOTH
def test_equals_the_equations(feed):
    model, batch = model_of(feed=feed), batch_of()
    constant = [("embedding.weight", SPEC.padding)]
    assert_equals_the_equations(model, batch, rows(model, batch), constant=constant)
    assert model.embedding.weight[SPEC.begin].any() and not model.embedding.weight[SPEC.padding].any()


@BOTH
def test_an_image_is_encoded_once_however_many_captions_it_has(feed):
    model = model_of(PIXELS, SMALL, feed=feed)
    assert_made_once(model, [model.encoder, model.image], steps=True)


@BOTH
def test_dropout_acts_on_the_image_the_words_and_the_output_in_training_alone(feed, monkeypatch):
    halve(monkeypatch)
    model, batch = model_of(dropout=0.5, feed=feed), batch_of()
    plain = model_of(dropout=0.0, feed=feed)
    assert_drops(model, plain, batch, rows(model, batch, keep=0.5), batch_of(targets=False))
