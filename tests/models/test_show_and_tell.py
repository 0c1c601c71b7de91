"""Show and Tell against the paper's equations as slow loops, what it reads and when, its sizes, its start."""

import pytest
import torch

from tests.models.cells import (
    ENCODER,
    PIXELS,
    SMALL,
    SPEC,
    TRAINED,
    assert_left_alone,
    assert_made_once,
    batch_of,
    captions_of,
)
from tests.models.equations import (
    DOUBLE,
    assert_deviation,
    assert_drops,
    assert_equals_the_equations,
    assert_orthogonal,
    count,
    exactly,
    glorot,
    halve,
    linear,
    lstm,
)
from zoo.data.images.spec import ImageSpec
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


@pytest.mark.parametrize(("feed", "lstm_weights"), [("once", 2_101_248), ("every_step", 3_149_824)])
def test_parameters_by_formula(feed, lstm_weights):
    """512 for words and LSTM, as in the paper, over 1024 numbers per image, with torch's second biases.

    At every step the LSTM reads 512 numbers more: 4 * 512 * 512 = 1,048,576 weights.
    """
    words, n, features = 10_000, 512, 1024
    with torch.device("meta"):
        spec = ImageSpec(features, 1, 1, target_size=words, longest_target=20, grid=(1, 1), encoded=True)
        model = ShowAndTell(spec, encoder=ENCODER, feed=feed)
    assert lstm_weights == 4 * n * (n + n * (2 if feed == "every_step" else 1)) + 2 * 4 * n
    expected = n * features + n * words + lstm_weights + words * n + words
    assert count(model) == expected


def test_start():
    spec = ImageSpec(70, 2, 2, target_size=500, longest_target=9, grid=(2, 2), encoded=True)
    torch.manual_seed(0)
    model = ShowAndTell(spec, encoder=ENCODER, embedding_dim=60, hidden_dim=80)
    assert_orthogonal([model.lstm.weight_hh_l0[80:160]])
    assert_deviation([model.lstm.weight_ih_l0[80:160], model.image.weight], glorot)
    assert_deviation([model.vocabulary.weight], lambda matrix: 4 * glorot(matrix))
    assert_deviation([model.embedding.weight], 1.0)


def test_a_range_is_of_all_but_the_image_encoder():
    def built(init_range):
        torch.manual_seed(0)
        return ShowAndTell(PIXELS, encoder=TRAINED, embedding_dim=30, hidden_dim=40, init_range=init_range)

    model = built(0.08)
    assert_left_alone(model.encoder)
    assert_left_alone(built(None).encoder)
    own = [one for name, one in model.named_parameters() if not name.startswith("encoder.")]
    assert all(one.abs().max() <= 0.08 for one in own)
    assert_deviation((one for one in own if one.numel() > 100), 0.08 / 3**0.5, rel=0.15)
    assert not model.embedding.weight[PIXELS.padding].any()
