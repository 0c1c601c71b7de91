"""Show and Tell against the paper's equations as slow loops, what it reads and when, its sizes, its start."""

import pytest
import torch
import torch.nn.functional as F

from tests.contract import by_steps
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
from zoo.data.images.spec import ImageSpec
from zoo.models import ShowAndTell

VARIANTS = [{"feed": "every_step"}]
"""Other ways through the network than its defaults, which keep the contract too."""


def model_of(spec=SPEC, encoder=ENCODER, **settings):
    torch.manual_seed(0)
    return random_biases(ShowAndTell(spec, encoder=encoder, **{"embedding_dim": 4, "hidden_dim": 5} | settings))


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def lstm(rnn, x, m, c):
    """(4)-(8), and the tanh that the header names."""
    w, u, b, k = (getattr(rnn, f"{name}_l0") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    i, f, g, o = (w @ x + b + u @ m + k).chunk(4)
    c = sigmoid(f) * c + sigmoid(i) * g.tanh()
    return sigmoid(o) * c.tanh(), c


def slow(model, image, read, keep=1.0):
    """Scores (T, V) of one caption. `keep` multiplies where dropout acts."""
    cells = cells_of(image)
    seen = keep * (model.image.weight @ (sum(cells) / len(cells)))
    m = c = torch.zeros(model.lstm.hidden_size, dtype=DOUBLE)
    if not model.at_every_step:
        m, c = lstm(model.lstm, seen, m, c)  # (10)
    scores = []
    for token in read:
        word = keep * model.embedding.weight[token]
        m, c = lstm(model.lstm, torch.cat([word, seen]) if model.at_every_step else word, m, c)  # (11), (12)
        scores.append(model.vocabulary.weight @ (keep * m) + model.vocabulary.bias)
    return torch.stack(scores)


def slow_logits(model, batch, keep=1.0):
    """(N, V) in the order of `batch.target_packing`."""
    parts = []
    for row, picture in enumerate(batch.picture.tolist()):
        scores = slow(model, batch.image[picture], read_of(batch, row), keep)
        parts.append(F.pad(scores, (0, 0, 0, batch.target.shape[1] - len(scores))))
    return batch.target_packing.pack(torch.stack(parts))


BOTH = pytest.mark.parametrize("feed", ["once", "every_step"])


@BOTH
def test_equals_the_equations(feed):
    model, batch = model_of(feed=feed), batch_of()
    output, expected = model(batch), slow_logits(model, batch)
    assert output.attention == {}
    torch.testing.assert_close(output.logits, expected, rtol=1e-12, atol=1e-12)
    weights = torch.randn_like(expected)
    assert_same_gradients(model, (output.logits * weights).sum(), (expected * weights).sum())


@BOTH
def test_an_image_is_encoded_once_however_many_captions_it_has(feed):
    model, batch, seen = model_of(PIXELS, SMALL, feed=feed), batch_of(pixels()), []
    for part in (model.encoder, model.image):
        part.register_forward_hook(lambda _, given, __: seen.append(len(given[0])))
    model(batch)
    model.start(batch_of(pixels(), targets=False))
    assert seen == [3, 3, 3, 3]


def test_the_embedding_of_begin_is_learned_and_that_of_padding_is_zero_and_stays_so():
    model, batch = model_of(), batch_of()
    before = model.embedding.weight.detach().clone()
    F.cross_entropy(model(batch).logits, batch.true_tokens).backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    read = {token for row in range(len(batch)) for token in read_of(batch, row)}
    assert set((model.embedding.weight != before).any(1).nonzero().flatten().tolist()) == read
    assert SPEC.begin in read
    assert (model.embedding.weight[SPEC.padding] == 0).all()


@BOTH
def test_dropout_acts_on_the_image_the_words_and_the_output_in_training_alone(feed, monkeypatch):
    halve(monkeypatch)
    model, batch = model_of(dropout=0.5, feed=feed), batch_of()
    assert torch.equal(model(batch).logits, model_of(dropout=0.0, feed=feed)(batch).logits)
    model.train()
    expected = slow_logits(model, batch, keep=0.5)
    torch.testing.assert_close(model(batch).logits, expected, rtol=1e-12, atol=1e-12)
    log_probs, _ = by_steps(model, batch, batch_of(targets=False))
    found = batch.target_packing.pack(log_probs)
    torch.testing.assert_close(found, expected.log_softmax(-1), rtol=1e-12, atol=1e-12)


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
    assert sum(p.numel() for p in model.parameters()) == expected


def test_start():
    spec = ImageSpec(70, 2, 2, target_size=500, longest_target=9, grid=(2, 2), encoded=True)
    torch.manual_seed(0)
    model = ShowAndTell(spec, encoder=ENCODER, embedding_dim=60, hidden_dim=80)
    gate, read = model.lstm.weight_hh_l0[80:160], model.lstm.weight_ih_l0[80:160]
    torch.testing.assert_close(gate @ gate.T, torch.eye(80), rtol=0, atol=1e-5)
    assert read.abs().max().item() == pytest.approx((6 / (60 + 80)) ** 0.5, rel=0.01)
    assert model.image.weight.abs().max().item() == pytest.approx((6 / (60 + 70)) ** 0.5, rel=0.01)
    assert model.vocabulary.weight.abs().max().item() == pytest.approx(4 * (6 / 580) ** 0.5, rel=0.01)
    assert model.embedding.weight.std().item() == pytest.approx(1.0, rel=0.05)


def test_a_range_is_of_all_but_the_image_encoder():
    def built(init_range):
        torch.manual_seed(0)
        return ShowAndTell(PIXELS, encoder=TRAINED, embedding_dim=30, hidden_dim=40, init_range=init_range)

    model = built(0.08)
    assert_left_alone(model.encoder)
    assert_left_alone(built(None).encoder)
    for name, parameter in model.named_parameters():
        if not name.startswith("encoder."):
            assert parameter.abs().max() <= 0.08, name
            if parameter.numel() > 100:
                assert parameter.std().item() == pytest.approx(0.08 / 3**0.5, rel=0.15), name
    assert (model.embedding.weight[PIXELS.padding] == 0).all()
    with pytest.raises(ValueError, match="init_range"):
        built(0.0)
    with pytest.raises(ValueError, match="feed=always: expected once or every_step"):
        model_of(feed="always")
