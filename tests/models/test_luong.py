"""Luong's attention against the paper's equations written as slow loops: scores, windows, feeding, steps."""

import math

import pytest
import torch
import torch.nn.functional as F

from tests.contract import by_steps
from tests.families import family_of
from tests.models.gradients import assert_same_gradients
from tests.models.halved import halve
from zoo.data.pairs.spec import PairSpec
from zoo.models import Luong

VARIANTS = [
    {"input_feeding": False, "score": "concat"},
    {"attention": "local_m", "score": "dot"},
    {"attention": "local_p", "window": 2},
    {"attention": "local_p", "input_feeding": False},
    {"attention": "local_m", "input_feeding": False, "reverse_source": True},
    {"score": "location", "reverse_source": True},
]
"""Other ways through the network than its defaults, which keep the contract too."""

PAIRS = family_of("translation")
SPEC = PAIRS.spec
DOUBLE = torch.float64
ATTENTIONS = ("global", "local_m", "local_p")
REACH = 2
PADDING = [(f"{side}_embedding.weight", SPEC.padding) for side in ("source", "target")]


def model_of(**settings):
    torch.manual_seed(0)
    small = {"embedding_dim": 4, "hidden_dim": 5, "num_layers": 2, "window": REACH, "init_range": 0.7}
    return Luong(SPEC, **small | settings).double().eval()


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def lstm(rnn, x, h, c, keep=1.0):
    """One step of all layers of one row; `h` and `c` are lists of a state for each layer, and are changed. What goes up
    from a layer to the next is multiplied by `keep`."""
    for k in range(rnn.num_layers):
        w, u, b, b_h = (getattr(rnn, f"{name}_l{k}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        i, f, g, o = (w @ x + b + u @ h[k] + b_h).chunk(4)
        c[k] = sigmoid(f) * c[k] + sigmoid(i) * g.tanh()
        h[k] = sigmoid(o) * c[k].tanh()
        x = keep * h[k]
    return h[-1]


def score_of(model, h_t, h_s, s):
    """Section 3.1; of a word at position s."""
    name, score = type(model.score).__name__, model.score
    if name == "DotScore":
        return h_t @ h_s
    if name == "GeneralScore":
        return h_t @ score.projection.weight @ h_s
    if name == "ConcatScore":
        return score.v @ (score.weight @ torch.cat([h_t, h_s])).tanh()
    assert name == "LocationScore"
    return score.projection.weight[s] @ h_t


def weights_of(model, h_t, memory, t, attention):
    """a_t over the words of one sentence, sections 3.1 and 3.2; its end, the last of `memory`, is not attended."""
    memory, end = memory[:-1], torch.zeros(1, dtype=DOUBLE)
    length = len(memory)
    if not length:
        return end
    scores = [score_of(model, h_t, h_s, s) for s, h_s in enumerate(memory)]
    centre = p = t
    if attention == "local_m":
        centre = min(t, length - 1)
    if attention == "local_p":
        p = length * sigmoid(model.window.v @ (model.window.projection.weight @ h_t).tanh())
        centre = math.floor(p.detach())
    inside = [s for s in range(length) if attention == "global" or centre - REACH <= s <= centre + REACH]
    total = sum(scores[s].exp() for s in inside)
    weights = [scores[s].exp() / total if s in inside else torch.zeros((), dtype=DOUBLE) for s in range(length)]
    if attention == "local_p":
        sigma = REACH / 2
        weights = [a * (-((s - p) ** 2) / (2 * sigma**2)).exp() for s, a in enumerate(weights)]
    return torch.cat([torch.stack(weights), end])


def slow(model, source, target_input, attention, keep=1.0):
    """Scores (T, V) and weights (T, S) of one sentence: `source` and `target_input` are lists of ids.

    `keep` replaces dropout.
    """
    width, layers = model.encoder.hidden_size, model.encoder.num_layers
    zero = torch.zeros(width, dtype=DOUBLE)
    h, c = [zero] * layers, [zero] * layers
    words = [keep * model.source_embedding.weight[w] for w in source[:: 1 - 2 * model.reverse_source]]
    memory = [lstm(model.encoder, word, h, c, keep) for word in words]
    memory = memory[:: 1 - 2 * model.reverse_source]
    fed, scores, found = zero, [], []
    for t, token in enumerate(target_input):
        x = keep * model.target_embedding.weight[token]
        h_t = lstm(model.decoder, torch.cat([x, fed]) if model.input_feeding else x, h, c, keep)
        a = weights_of(model, h_t, memory, t, attention)
        context = sum(a_s * h_s for a_s, h_s in zip(a, memory, strict=True))
        fed = keep * (model.attentional.weight @ torch.cat([context, h_t])).tanh()
        scores.append(model.vocabulary.weight @ fed + model.vocabulary.bias)
        found.append(a)
    return torch.stack(scores), torch.stack(found)


def slow_batch(model, batch, attention, keep=1.0):
    """Scores (N, V) in the order of `batch.target_packing` and weights (B, T, S)."""
    size, steps = batch.target.shape
    scores, weights = [], []
    for row in range(size):
        source = batch.source[row][batch.source_mask[row]].tolist()
        target = batch.target_input[row][batch.target_mask[row]].tolist()
        found, a = slow(model, source, target, attention, keep)
        scores.append(F.pad(found, (0, 0, 0, steps - len(target))))
        weights.append(F.pad(a, (0, batch.source.shape[1] - len(source), 0, steps - len(target))))
    return batch.target_packing.pack(torch.stack(scores)), torch.stack(weights)


@pytest.mark.parametrize("input_feeding", [True, False])
@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("score", ["dot", "general", "concat", "location"])
def test_equals_the_equations(score, attention, input_feeding):
    model = model_of(score=score, attention=attention, input_feeding=input_feeding)
    batch = PAIRS.batch(3, empty=False)
    output, (scores, weights) = model(batch), slow_batch(model, batch, attention)
    torch.testing.assert_close(output.logits, scores, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(output.attention["source"], weights, rtol=1e-12, atol=1e-12)
    random = torch.randn_like(scores), torch.randn_like(weights)
    found = output.logits, output.attention["source"]
    ours, theirs = (
        sum((one * other).sum() for one, other in zip(side, random, strict=True)) for side in (found, (scores, weights))
    )
    assert_same_gradients(model, ours, theirs, constant=PADDING)


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("reverse", [True, False])
def test_equals_the_equations_with_other_layers_and_the_source_reversed(reverse, layers):
    model = model_of(num_layers=layers, reverse_source=reverse, attention="local_p")
    batch = PAIRS.batch(3, empty=False)
    output, (scores, weights) = model(batch), slow_batch(model, batch, "local_p")
    torch.testing.assert_close(output.logits, scores, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(output.attention["source"], weights, rtol=1e-12, atol=1e-12)
    assert_same_gradients(model, output.logits.square().sum(), scores.square().sum(), constant=PADDING)


@pytest.mark.parametrize("input_feeding", [True, False])
def test_dropout_acts_on_embeddings_between_layers_and_on_the_attentional_vector(monkeypatch, input_feeding):
    halve(monkeypatch)
    model = model_of(dropout=0.5, num_layers=3, input_feeding=input_feeding)
    batch = PAIRS.batch(3, empty=False)
    plain = model_of(num_layers=3, input_feeding=input_feeding)
    assert torch.equal(model(batch).logits, plain(batch).logits)  # in evaluation
    expected, _ = slow_batch(model.train(), batch, "global", keep=0.5)
    torch.testing.assert_close(model(batch).logits, expected, rtol=1e-12, atol=1e-12)
    log_probs, _ = by_steps(model, batch, PAIRS.without_targets(batch))
    found = batch.target_packing.pack(log_probs)
    torch.testing.assert_close(found, expected.log_softmax(-1), rtol=1e-12, atol=1e-12)


def test_half_precision_weights_run():
    for attention in ATTENTIONS:
        model, batch = model_of(attention=attention, init_range=0.1).bfloat16(), PAIRS.batch(3)
        output = model(batch)
        assert output.logits.dtype == output.attention["source"].dtype == torch.bfloat16
        assert output.logits.isfinite().all()


def test_start():
    spec, sizes = PairSpec(400, 500, 9, 9), {"embedding_dim": 60, "hidden_dim": 80, "num_layers": 2}
    torch.manual_seed(0)
    model = Luong(spec, **sizes, attention="local_p", init_range=0.1)
    for name, parameter in model.named_parameters():
        assert parameter.abs().max() <= 0.1
        assert parameter.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.15), name  # that of a uniform distribution
        assert abs(parameter.mean()) < 0.02, name
    plain = Luong(spec, **sizes, init_range=None)
    for rnn in (plain.encoder, plain.decoder):
        for gate in (*rnn.weight_hh_l0.chunk(4), *rnn.weight_hh_l1.chunk(4)):
            torch.testing.assert_close(gate @ gate.T, torch.eye(80), rtol=0, atol=1e-5)
        assert (rnn.bias_ih_l1 == 0).all()
        for weight, gain in ((rnn.weight_ih_l0, 1), (rnn.weight_ih_l1, 4)):
            for gate in weight.chunk(4):
                assert gate.std().item() == pytest.approx(gain * (2 / sum(gate.shape)) ** 0.5, rel=0.05)  # Glorot's
    for weight in (plain.attentional.weight, plain.vocabulary.weight):
        assert weight.std().item() == pytest.approx(4 * (2 / sum(weight.shape)) ** 0.5, rel=0.05)
    for network in (model, plain):
        for embedding in (network.source_embedding, network.target_embedding):
            assert (embedding.weight[spec.padding] == 0).all()


def test_an_unknown_name_is_named():
    with pytest.raises(ValueError, match="expected global, local_m or local_p, found 'local'"):
        model_of(attention="local")
    with pytest.raises(ValueError, match="did you mean 'general'"):
        model_of(score="generel")
    for nothing in (0.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match=r"init_range is a number above 0, or null; got"):
            model_of(init_range=nothing)
