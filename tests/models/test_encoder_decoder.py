"""The RNN encoder-decoder against the paper's equations written as slow loops, its sizes, its start and its steps."""

import pytest
import torch

from tests.families import family_of
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
    largest_of_pairs,
    linear,
    pairs_of,
    sigmoid,
    weights_of,
)
from zoo.data.pairs.spec import PairSpec
from zoo.models import EncoderDecoder

VARIANTS = [{"shared": True}]
"""Other ways through the network than its defaults, which keep the contract too."""

PAIRS = family_of("translation")
SPEC = PAIRS.spec


def model_of(**settings):
    torch.manual_seed(0)
    sizes = {"embedding_dim": 4, "hidden_dim": 5, "maxout_dim": 3}
    return exactly(EncoderDecoder(SPEC, **sizes | settings), biases=True)


def gru(rnn, x, h, context, *, reset_first):
    """h' of one step of one row; `context` = (C_r c, C_z c, C c)."""
    (w_r, w_z, w), (u_r, u_z, u), (b_r, b_z, b), (k_r, k_z, k) = (part.chunk(3) for part in weights_of(rnn))
    r = sigmoid(w_r @ x + b_r + u_r @ h + k_r + context[0])
    z = sigmoid(w_z @ x + b_z + u_z @ h + k_z + context[1])
    inner = u @ (r * h) + k + context[2] if reset_first else r * (u @ h + k + context[2])
    n = (w @ x + b + inner).tanh()
    return z * h + (1 - z) * n


def slow(model, source, read, keep=1.0):
    """Scores (T, V) of one sentence, token by token. `keep` multiplies where dropout acts."""
    zero = torch.zeros(model.encoder.hidden_size, dtype=DOUBLE)
    h, shared = zero, model.encoder is model.decoder
    for token in source:
        h = gru(model.encoder, keep * model.source_embedding.weight[token], h, (zero,) * 3, reset_first=not shared)
    c = linear(model.summary, h).tanh()
    h = linear(model.initial_state, c).tanh()
    context = [part @ c for part in model.gates_context.weight.chunk(3)]
    scores = []
    for token in read:
        y = keep * model.target_embedding.weight[token]
        h = gru(model.decoder, y, h, context, reset_first=False)
        s = linear(model.output_hidden, h) + linear(model.output_token, y) + linear(model.output_context, c)
        scores.append(linear(model.vocabulary, linear(model.bottleneck, keep * largest_of_pairs(s))))
    return torch.stack(scores), None


def rows(model, batch, keep=1.0):
    return [slow(model, *pair, keep) for pair in pairs_of(batch)]


@pytest.mark.parametrize("shared", [False, True])
def test_equals_the_equations(shared):
    model, batch = model_of(shared=shared), PAIRS.batch(3)
    constant = [("target_embedding.weight", SPEC.begin)]
    assert_equals_the_equations(model, batch, rows(model, batch), constant=constant)


@pytest.mark.parametrize(("shared", "grus"), [(False, 6_612_000), (True, 3_306_000)])
def test_parameters_by_formula(shared, grus):
    """The paper's network, with the source and target words that Bahdanau et al. 2015 trained it on."""
    spec, e, n, units = PairSpec(30_000, 30_000, 50, 50), 100, 1000, 500
    with torch.device("meta"):
        model = EncoderDecoder(spec, shared=shared)
    embeddings = 2 * 30_000 * e
    assert grus == (1 if shared else 2) * (3 * n * e + 3 * n * n + 2 * 3 * n)
    summary, context = 2 * (n * n + n), 3 * n * n
    output = 2 * units * (n + e + n) + 2 * units + e * units + 30_000 * e + 30_000
    assert count(model) == embeddings + grus + summary + context + output


@pytest.mark.parametrize("init", ["orthogonal", "paper"])
def test_start(init):
    torch.manual_seed(0)
    spec = PairSpec(400, 500, 9, 9)
    model = EncoderDecoder(spec, embedding_dim=60, hidden_dim=80, maxout_dim=50, init=init)
    rnns = model.encoder, model.decoder
    assert_orthogonal(gate for rnn in rnns for gate in rnn.weight_hh_l0.chunk(3))
    assert not any(parameter.any() for name, parameter in model.named_parameters() if "bias" in name)
    linears = [model.summary, model.initial_state, model.gates_context, model.output_hidden, model.output_token]
    matrices = [part.weight for part in (*linears, model.output_context, model.bottleneck, model.vocabulary)]
    matrices += [gate for rnn in rnns for gate in rnn.weight_ih_l0.chunk(3)]
    assert_deviation(matrices, 0.01 if init == "paper" else glorot)
    words = model.source_embedding.weight, model.target_embedding.weight
    assert_deviation(words, 0.01 if init == "paper" else 1.0)
    assert not words[0][spec.padding].any() and not words[1][spec.begin].any()


def test_dropout_acts_on_embeddings_and_maxout_units_in_training_alone(monkeypatch):
    halve(monkeypatch)
    model, batch = model_of(dropout=0.5), PAIRS.batch(3)
    assert_drops(model, model_of(), batch, rows(model, batch, keep=0.5), PAIRS.without_targets(batch))
