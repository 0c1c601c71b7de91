"""rnn_lm against the paper's equations as loops, with dropout on the edges between layers alone."""

import math

import pytest
import torch
from torch import nn

import zoo.layers.dropout
from tests.families import family_of
from tests.models.equations import assert_drops, assert_equals_the_equations, exactly, halve, linear, lstm, sigmoid
from zoo.data.language.batch import LanguageSpec, StreamBatch
from zoo.models import RNNLanguageModel

STREAMS = family_of("language_modeling")
BATCH = STREAMS.batch(1, empty=False)


def build(**settings):
    torch.manual_seed(0)
    widths = {"embedding_dim": 4, "hidden_dim": 4}
    return exactly(RNNLanguageModel(STREAMS.spec, **widths | {"dropout": 0.0} | settings), biases=True)


def elman(rnn, x, h, suffix):
    w, u, b, k = (getattr(rnn, f"{name}{suffix}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    return (w @ x + b + u @ h + k).tanh()


def gru(rnn, x, h, suffix):
    w, u, b, k = (getattr(rnn, f"{name}{suffix}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    (xr, xz, xn), (hr, hz, hn) = (w @ x + b).chunk(3), (u @ h + k).chunk(3)
    z = sigmoid(xz + hz)
    return (1 - z) * (xn + sigmoid(xr + hr) * hn).tanh() + z * h


def literal(model, text, cell="lstm", keep=1.0):
    """The scores (T, V) of a text; `keep` multiplies what is dropped out."""
    rnn = model.recurrent
    states = [(torch.zeros(rnn.hidden_size).double(),) * 2 for _ in range(rnn.num_layers)]
    scores = []
    for token in text:
        x = model.embedding.weight[token]
        for layer, (h, c) in enumerate(states):
            if cell == "lstm":
                h, c = lstm(rnn, keep * x, h, c, f"_l{layer}")
            else:
                h = {"gru": gru, "elman": elman}[cell](rnn, keep * x, h, f"_l{layer}")
            states[layer], x = (h, c), h
        scores.append(linear(model.vocabulary, keep * x))
    return torch.stack(scores)


def rows(model, **options):
    read = zip(BATCH.target_input, BATCH.target_mask, strict=True)
    return [(literal(model, row[mask].tolist(), **options), None) for row, mask in read]


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
@pytest.mark.parametrize("tied", [False, True])
def test_equals_the_equations_written_as_loops(cell, tied):
    model = build(cell=cell, tied=tied, num_layers=3)
    assert_equals_the_equations(model, BATCH, rows(model, cell=cell))
    assert (model.vocabulary.weight is model.embedding.weight) == tied


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_dropout_is_before_each_layer_and_the_vocabulary(monkeypatch, cell):
    halve(monkeypatch)
    monkeypatch.setattr(zoo.layers.dropout, "scaled_mask", lambda shape, p, like: like.new_full(tuple(shape), 0.5))
    model, plain = build(cell=cell, dropout=0.5), build(cell=cell)
    assert_drops(model, plain, BATCH, rows(model, cell=cell, keep=0.5), STREAMS.without_targets(BATCH))


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
def test_dropout_never_acts_from_step_to_step(cell):
    """With W = 0 nothing flows on the other edges, and the states are those without dropout."""
    model = build(cell=cell, dropout=0.9).float()
    with torch.no_grad():
        for name, part in model.named_parameters():
            if "weight_ih" in name:
                part.zero_()
    plain, dropped = model(BATCH).carried, model.train()(BATCH).carried
    for name, part in plain.items():
        torch.testing.assert_close(dropped[name], part, rtol=1e-5, atol=1e-6)


def test_tied_widths_are_equal():
    with pytest.raises(ValueError, match="tied: the widths must be equal, embedding_dim=4, hidden_dim=6"):
        build(tied=True, hidden_dim=6)


@pytest.mark.parametrize(("words", "unit"), [(10_000, "words"), (65, "characters")])
def test_the_first_loss_is_that_of_equal_probabilities(words, unit):
    torch.manual_seed(0)
    model = RNNLanguageModel(LanguageSpec(words, unit), embedding_dim=50, hidden_dim=50, init_range=0.05).eval()
    ids = torch.randint(words, (8, 36))
    mask = torch.ones(8, 35, dtype=torch.bool)
    batch = StreamBatch(index=torch.arange(8), target_input=ids[:, :-1], target=ids[:, 1:], target_mask=mask)
    loss = nn.functional.cross_entropy(model(batch).logits, batch.true_tokens)
    assert loss.item() == pytest.approx(math.log(words), abs=0.01)
