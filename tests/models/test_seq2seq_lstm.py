"""Sequence to sequence with LSTMs against its equations written as slow loops, reversal, hand-over, sizes, start."""

import pytest
import torch
import torch.nn.functional as F

from tests.contract import by_steps
from tests.families import family_of
from tests.models.gradients import assert_same_gradients
from tests.models.halved import halve
from zoo.data.pairs.spec import PairSpec
from zoo.models import Seq2SeqLSTM
from zoo.models.seq2seq_lstm import reversed_words

VARIANTS = [{"reverse_source": False}, {"shared": True}]
"""Other ways through the network than its defaults, which keep the contract too."""

PAIRS = family_of("translation")
SPEC = PAIRS.spec
DOUBLE = torch.float64


def model_of(**settings):
    torch.manual_seed(0)
    arguments = {"embedding_dim": 4, "hidden_dim": 5, "num_layers": 3, "init_range": 0.8} | settings
    return Seq2SeqLSTM(SPEC, **arguments).double().eval()


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def lstm(rnn, x, states, keep=1.0):
    """One step of all layers of one row: the top output and the new [(h, c)] of each layer. What a layer reads is
    multiplied by `keep`."""
    after = []
    for layer, (h, c) in enumerate(states):
        w, u, b, k = (getattr(rnn, f"{kind}_l{layer}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        i, f, g, o = (w @ (keep * x) + b + u @ h + k).chunk(4)
        c = sigmoid(f) * c + sigmoid(i) * g.tanh()
        x = sigmoid(o) * c.tanh()
        after.append((x, c))
    return x, after


def slow_scores(model, source, target_input, keep=1.0):
    """(T, V) of one sentence, token by token: `source` and `target_input` are lists of ids. `keep` multiplies where
    dropout acts."""
    zero = torch.zeros(model.encoder.hidden_size, dtype=DOUBLE)
    states = [(zero, zero)] * model.encoder.num_layers
    for token in [*reversed(source[:-1]), *source[-1:]] if model.reverse_source else source:
        _, states = lstm(model.encoder, model.source_embedding.weight[token], states, keep)
    scores = []
    for token in target_input:
        h, states = lstm(model.decoder, model.target_embedding.weight[token], states, keep)
        scores.append(model.vocabulary.weight @ (keep * h) + model.vocabulary.bias)
    return torch.stack(scores)


def slow_logits(model, batch, keep=1.0):
    """(N, V) in the order of `batch.target_packing`."""
    parts = []
    for row in range(len(batch)):
        source = batch.source[row][batch.source_mask[row]].tolist()
        target = batch.target_input[row][batch.target_mask[row]].tolist()
        parts.append(slow_scores(model, source, target, keep))
    padded = torch.stack([F.pad(part, (0, 0, 0, batch.target.shape[1] - len(part))) for part in parts])
    return batch.target_packing.pack(padded)


@pytest.mark.parametrize(("reverse", "shared"), [(False, False), (True, False), (True, True)])
def test_equals_the_equations(reverse, shared):
    model, batch = model_of(reverse_source=reverse, shared=shared), PAIRS.batch(3)
    logits, expected = model(batch).logits, slow_logits(model, batch)
    torch.testing.assert_close(logits, expected, rtol=1e-12, atol=1e-12)
    weights = torch.randn_like(expected)
    assert_same_gradients(model, (logits * weights).sum(), (expected * weights).sum())


def test_words_are_reversed_inside_their_length_and_the_end_stays_last():
    tokens = torch.tensor([[5, 6, 7, 8, 3], [5, 6, 3, 0, 0], [9, 3, 0, 0, 0], [3, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    expected = torch.tensor([[8, 7, 6, 5, 3], [6, 5, 3, 0, 0], [9, 3, 0, 0, 0], [3, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    assert torch.equal(reversed_words(tokens, tokens > 0), expected)


def test_parameters_by_formula():
    """The paper: 384 M parameters, 64 M of them recurrent, 32 M on each side; torch's biases come on top."""
    n, layers, source, target = 1000, 4, 160_000, 80_000
    with torch.device("meta"):
        model = Seq2SeqLSTM(PairSpec(source, target, 50, 50))
    side = layers * 4 * n * (n + n)
    assert side == 32_000_000
    assert 2 * side + n * (source + target) + n * target == 384_000_000
    biases = 2 * layers * 2 * 4 * n + target
    assert sum(p.numel() for p in model.parameters()) == 384_000_000 + biases
    for rnn in (model.encoder, model.decoder):
        assert sum(p.numel() for name, p in rnn.named_parameters() if "weight" in name) == side


def test_shared_weights_halve_the_recurrent_part():
    """The second side has 32 M of the paper's 384 M weights, and 32,000 biases."""
    with torch.device("meta"):
        one, two = (Seq2SeqLSTM(PairSpec(160_000, 80_000, 50, 50), shared=shared) for shared in (True, False))
    assert sum(p.numel() for p in one.parameters()) == 352_000_000 + 32_000 + 80_000
    assert sum(p.numel() for p in two.parameters()) == 384_000_000 + 64_000 + 80_000


def test_start():
    torch.manual_seed(0)
    spec = PairSpec(400, 500, 9, 9)
    model = Seq2SeqLSTM(spec, embedding_dim=60, hidden_dim=80, num_layers=2)
    for name, parameter in model.named_parameters():
        assert parameter.abs().max() <= 0.08
        assert parameter.std().item() == pytest.approx(0.08 / 3**0.5, rel=0.1), name  # that of a uniform distribution
    torch.manual_seed(0)
    plain = Seq2SeqLSTM(spec, embedding_dim=60, hidden_dim=80, num_layers=2, init_range=None)
    gate, read = plain.decoder.weight_hh_l1[:80], plain.decoder.weight_ih_l0[80:160]
    torch.testing.assert_close(gate @ gate.T, torch.eye(80), rtol=0, atol=1e-5)
    assert read.abs().max().item() == pytest.approx((6 / (60 + 80)) ** 0.5, rel=0.01)  # Glorot's, of each gate
    for weight in (plain.encoder.weight_ih_l1[240:], plain.vocabulary.weight):  # they read states
        assert weight.abs().max().item() == pytest.approx(4 * (6 / sum(weight.shape)) ** 0.5, rel=0.01)
    assert (plain.encoder.bias_ih_l1 == 0).all()
    assert plain.source_embedding.weight.std().item() == pytest.approx(1.0, rel=0.05)
    for network in (model, plain):
        for embedding in (network.source_embedding, network.target_embedding):
            assert (embedding.weight[spec.padding] == 0).all()


def test_dropout_acts_on_embeddings_between_layers_and_on_the_output_in_training_alone(monkeypatch):
    halve(monkeypatch)
    model, batch = model_of(dropout=0.5), PAIRS.batch(3)
    assert torch.equal(model(batch).logits, model_of()(batch).logits)
    model.train()
    expected = slow_logits(model, batch, keep=0.5)
    torch.testing.assert_close(model(batch).logits, expected, rtol=1e-12, atol=1e-12)
    log_probs, _ = by_steps(model, batch, PAIRS.without_targets(batch))
    found = batch.target_packing.pack(log_probs)
    torch.testing.assert_close(found, expected.log_softmax(-1), rtol=1e-12, atol=1e-12)
