"""The RNN encoder-decoder against the paper's equations written as slow loops, its sizes, its start and its steps."""

import pytest
import torch
import torch.nn.functional as F

from tests.contract import by_steps
from tests.families import family_of
from tests.models.gradients import assert_same_gradients
from tests.models.halved import halve
from zoo.data.pairs.spec import PairSpec
from zoo.models import EncoderDecoder

VARIANTS = [{"shared": True}]
"""Other ways through the network than its defaults, which keep the contract too."""

PAIRS = family_of("translation")
SPEC = PAIRS.spec
DOUBLE = torch.float64


def model_of(**settings):
    """A small network in double precision whose biases are not zero, so that a wrong one shows."""
    torch.manual_seed(0)
    model = EncoderDecoder(SPEC, **{"embedding_dim": 4, "hidden_dim": 5, "maxout_dim": 3} | settings).double().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "bias" in name:
                parameter.normal_()
    return model


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def gru(rnn, x, h, context, *, reset_first):
    """h' of one step of one row; `context` = (C_r c, C_z c, C c)."""
    w_r, w_z, w = rnn.weight_ih_l0.chunk(3)
    u_r, u_z, u = rnn.weight_hh_l0.chunk(3)
    b_r, b_z, b = rnn.bias_ih_l0.chunk(3)
    k_r, k_z, k = rnn.bias_hh_l0.chunk(3)
    r = sigmoid(w_r @ x + b_r + u_r @ h + k_r + context[0])
    z = sigmoid(w_z @ x + b_z + u_z @ h + k_z + context[1])
    inner = u @ (r * h) + k + context[2] if reset_first else r * (u @ h + k + context[2])
    n = (w @ x + b + inner).tanh()
    return z * h + (1 - z) * n


def slow_scores(model, source, target_input, keep=1.0):
    """(T, V) of one sentence, token by token: `source` and `target_input` are lists of ids. `keep` multiplies where
    dropout acts."""
    zero = torch.zeros(model.encoder.hidden_size, dtype=DOUBLE)
    h, shared = zero, model.encoder is model.decoder
    for token in source:
        h = gru(model.encoder, keep * model.source_embedding.weight[token], h, (zero,) * 3, reset_first=not shared)
    c = (model.summary.weight @ h + model.summary.bias).tanh()
    h = (model.initial_state.weight @ c + model.initial_state.bias).tanh()
    context = [part @ c for part in model.gates_context.weight.chunk(3)]
    scores = []
    for token in target_input:
        y = keep * model.target_embedding.weight[token]
        h = gru(model.decoder, y, h, context, reset_first=False)
        o_h, o_y, o_c = model.output_hidden, model.output_token, model.output_context
        s = o_h.weight @ h + o_h.bias + o_y.weight @ y + o_c.weight @ c
        t = torch.stack([torch.maximum(s[2 * i], s[2 * i + 1]) for i in range(len(s) // 2)])
        scores.append(model.vocabulary.weight @ (model.bottleneck.weight @ (keep * t)) + model.vocabulary.bias)
    return torch.stack(scores)


def slow_logits(model, batch, keep=1.0):
    """(N, V) in the order of `batch.target_packing`."""
    grid = torch.zeros(*batch.target.shape, SPEC.target_size, dtype=DOUBLE)
    parts = []
    for row in range(len(batch)):
        source = batch.source[row][batch.source_mask[row]].tolist()
        target = batch.target_input[row][batch.target_mask[row]].tolist()
        parts.append(slow_scores(model, source, target, keep))
    padded = torch.stack([F.pad(part, (0, 0, 0, grid.shape[1] - len(part))) for part in parts])
    return batch.target_packing.pack(padded)


@pytest.mark.parametrize("shared", [False, True])
def test_equals_the_equations(shared):
    model, batch = model_of(shared=shared), PAIRS.batch(3)
    logits, expected = model(batch).logits, slow_logits(model, batch)
    torch.testing.assert_close(logits, expected, rtol=1e-12, atol=1e-12)
    weights = torch.randn_like(expected)
    ours, theirs = (logits * weights).sum(), (expected * weights).sum()
    assert_same_gradients(model, ours, theirs, constant=[("target_embedding.weight", SPEC.begin)])


def test_the_embedding_of_begin_is_zero_and_stays_zero():
    model, batch = model_of().train(), PAIRS.batch(3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    before = model.target_embedding.weight.detach().clone()
    first = model.step(torch.full((len(batch), 1), SPEC.begin), model.start(batch))
    second = model.step(first.log_probs.exp(), first.state)  # soft feedback reads a distribution with mass on begin
    assert first.log_probs[..., SPEC.begin].exp().min() > 1e-4
    (PAIRS.loss(model(batch), batch) - second.log_probs[..., SPEC.end].mean()).backward()
    optimizer.step()
    weight = model.target_embedding.weight.detach()
    assert (weight[SPEC.begin] == 0).all()
    assert (weight != before)[4:].any(1).all()


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
    assert sum(p.numel() for p in model.parameters()) == embeddings + grus + summary + context + output


def recurrent_gates(model):
    return [gate for rnn in (model.encoder, model.decoder) for gate in rnn.weight_hh_l0.chunk(3)]


@pytest.mark.parametrize("init", ["orthogonal", "paper"])
def test_start(init):
    torch.manual_seed(0)
    spec = PairSpec(400, 500, 9, 9)
    model = EncoderDecoder(spec, embedding_dim=60, hidden_dim=80, maxout_dim=50, init=init)
    for gate in recurrent_gates(model):
        torch.testing.assert_close(gate @ gate.T, torch.eye(80), atol=1e-5, rtol=0)
    for name, parameter in model.named_parameters():
        if "bias" in name:
            assert (parameter == 0).all(), name
    linear = [model.summary, model.initial_state, model.gates_context, model.output_hidden, model.output_token]
    linear += [model.output_context, model.bottleneck, model.vocabulary]
    matrices = [part.weight for part in linear]
    matrices += [gate for rnn in (model.encoder, model.decoder) for gate in rnn.weight_ih_l0.chunk(3)]
    for matrix in matrices:
        glorot = (2 / sum(matrix.shape)) ** 0.5
        assert matrix.std().item() == pytest.approx(0.01 if init == "paper" else glorot, rel=0.05)
    assert (model.source_embedding.weight[spec.padding] == 0).all()
    assert (model.target_embedding.weight[spec.begin] == 0).all()
    for embedding in (model.source_embedding, model.target_embedding):
        assert embedding.weight.std().item() == pytest.approx(0.01 if init == "paper" else 1.0, rel=0.05)
    with pytest.raises(ValueError, match="expected orthogonal or paper, found 'normal'"):
        EncoderDecoder(spec, init="normal")


def test_dropout_acts_on_embeddings_and_maxout_units_in_training_alone(monkeypatch):
    halve(monkeypatch)
    model, batch = model_of(dropout=0.5), PAIRS.batch(3)
    assert torch.equal(model(batch).logits, model_of()(batch).logits)
    model.train()
    expected = slow_logits(model, batch, keep=0.5)
    torch.testing.assert_close(model(batch).logits, expected, rtol=1e-12, atol=1e-12)
    log_probs, _ = by_steps(model, batch, PAIRS.without_targets(batch))
    found = batch.target_packing.pack(log_probs)
    torch.testing.assert_close(found, expected.log_softmax(-1), rtol=1e-12, atol=1e-12)
