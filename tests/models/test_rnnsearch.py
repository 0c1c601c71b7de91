"""RNNsearch against the paper's equations written as slow loops, its start, its order of looking, its steps."""

import pytest
import torch
import torch.nn.functional as F

from tests.contract import by_steps
from tests.families import family_of
from tests.models.gradients import assert_same_gradients
from tests.models.halved import halve
from zoo.attention import SCORES
from zoo.data.pairs.spec import PairSpec
from zoo.models import RNNSearch

VARIANTS = [{"score": "general"}, {"score": "dot"}, {"score": "tests.models.own_scores.Bilinear"}]
"""Other ways through the network than its defaults, which keep the contract too."""

PAIRS = family_of("translation")
SPEC = PAIRS.spec
DOUBLE = torch.float64
SMALL = {"embedding_dim": 4, "hidden_dim": 5, "attention_dim": 6, "maxout_dim": 3}


def model_of(**settings):
    """A small network in double precision whose biases are not zero, so that a wrong one shows."""
    torch.manual_seed(0)
    model = RNNSearch(SPEC, **SMALL | settings).double().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "bias" in name:
                parameter.normal_()
    return model


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def gru(sums, s, u_r, u_z, u):
    """A.1.1 and A.1.2, from what the input and the context give to the three sums."""
    x_r, x_z, x = sums
    r, z = sigmoid(x_r + u_r @ s), sigmoid(x_z + u_z @ s)
    return (1 - z) * s + z * (x + u @ (r * s)).tanh()


def encode(model, source, keep=1.0):
    """The states forward and backward h_1, ..., h_S of one sentence, two lists."""
    sides = []
    for suffix, words in (("", source), ("_reverse", source[::-1])):
        w, u, b, k = (getattr(model.encoder, f"{kind}_l0{suffix}") for kind in NAMES)
        h, states = torch.zeros(len(u) // 3, dtype=DOUBLE), []
        for token in words:
            sums = (w @ (keep * model.source_embedding.weight[token]) + b + k).chunk(3)
            h = gru(sums, h, *u.chunk(3))
            states.append(h)
        sides.append(states)
    return sides[0], sides[1][::-1]


NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def slow(model, source, target_input, keep=1.0):
    """Scores (T, V) and weights (T, S) of one sentence: `source` and `target_input` are lists of ids.

    `keep` replaces dropout.
    """
    forward, backward = encode(model, source, keep)
    h = [torch.cat(pair) for pair in zip(forward, backward, strict=True)]
    s = (model.initial_state.weight @ backward[0]).tanh()
    w_a, u_a, v_a = model.score.query_projection.weight, model.score.key_projection.weight, model.score.v
    scores, found = [], []
    for token in target_input:
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
    size, steps = batch.target.shape
    scores, weights = [], []
    for row in range(size):
        source = batch.source[row][batch.source_mask[row]].tolist()
        target = batch.target_input[row][batch.target_mask[row]].tolist()
        found, a = slow(model, source, target, keep)
        scores.append(F.pad(found, (0, 0, 0, steps - len(target))))
        weights.append(F.pad(a, (0, batch.source.shape[1] - len(source), 0, steps - len(target))))
    return batch.target_packing.pack(torch.stack(scores)), torch.stack(weights)


def test_equals_the_equations():
    model, batch = model_of(), PAIRS.batch(3, empty=False)
    output, (scores, weights) = model(batch), slow_batch(model, batch)
    torch.testing.assert_close(output.logits, scores, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(output.attention["source"], weights, rtol=1e-12, atol=1e-12)
    random = torch.randn_like(scores), torch.randn_like(weights)
    ours, theirs = (
        sum((one * other).sum() for one, other in zip(found, random, strict=True))
        for found in ((output.logits, output.attention["source"]), (scores, weights))
    )
    assert_same_gradients(model, ours, theirs, constant=[("target_embedding.weight", SPEC.begin)])


@pytest.mark.parametrize("score", SCORES)
def test_the_loop_equals_the_steps_in_every_score(score):
    model, batch = model_of(score=score), PAIRS.batch(3)
    target = batch.target_packing.pack(batch.target)
    output = model(batch)
    log_probs, attention = by_steps(model, batch, PAIRS.without_targets(batch))
    log_probs = batch.target_packing.pack(log_probs)
    torch.testing.assert_close(output.logits.log_softmax(-1), log_probs, rtol=1e-10, atol=1e-10)
    stepwise = torch.stack(attention["source"], 1) * batch.target_mask[..., None]
    weigh = torch.randn_like(stepwise)  # a regulariser reads the weights
    ours = F.cross_entropy(output.logits, target) + (weigh * output.attention["source"]).sum()
    assert_same_gradients(model, ours, F.nll_loss(log_probs, target) + (weigh * stepwise).sum())


def test_the_papers_start_looks_everywhere_alike():
    torch.manual_seed(0)
    model, batch = RNNSearch(SPEC, **SMALL, init="paper").double(), PAIRS.batch(3)
    words, targets = batch.source_mask.double(), batch.target_mask
    even = (words / words.sum(1, keepdim=True).clamp_min(1))[:, None] * targets[..., None]
    torch.testing.assert_close(model(batch).attention["source"], even, rtol=1e-12, atol=1e-12)
    assert model.score.v.abs().max() == 0


@pytest.mark.parametrize("init", ["orthogonal", "paper"])
def test_start(init):
    torch.manual_seed(0)
    spec = PairSpec(400, 500, 9, 9)
    model = RNNSearch(spec, embedding_dim=60, hidden_dim=80, attention_dim=70, maxout_dim=50, init=init)
    recurrent = [model.encoder.weight_hh_l0, model.encoder.weight_hh_l0_reverse, model.decoder_state.weight]
    for matrix in (part for weight in recurrent for part in weight.chunk(3)):
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(80), rtol=0, atol=1e-5)
    assert all((part == 0).all() for name, part in model.named_parameters() if "bias" in name)
    linear = [model.initial_state, model.decoder_token, model.decoder_context, model.output_state, model.output_token]
    matrices = [part.weight for part in (*linear, model.output_context, model.vocabulary)]
    read = model.encoder.weight_ih_l0, model.encoder.weight_ih_l0_reverse
    matrices += [gate for weight in read for gate in weight.chunk(3)]
    for matrix in matrices:
        glorot = (2 / sum(matrix.shape)) ** 0.5
        assert matrix.std().item() == pytest.approx(0.01 if init == "paper" else glorot, rel=0.05)
    for matrix in (model.score.query_projection.weight, model.score.key_projection.weight):
        glorot = (2 / sum(matrix.shape)) ** 0.5
        assert matrix.std().item() == pytest.approx(0.001 if init == "paper" else glorot, rel=0.05)
    for embedding in (model.source_embedding, model.target_embedding):
        assert embedding.weight.std().item() == pytest.approx(0.01 if init == "paper" else 1.0, rel=0.05)


def test_the_embedding_of_begin_is_zero_and_stays_so():
    model, batch = model_of(), PAIRS.batch(3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before = model.target_embedding.weight.detach().clone()
    F.cross_entropy(model(batch).logits, batch.target_packing.pack(batch.target)).backward()
    optimizer.step()
    read = batch.target_input[batch.target_mask].unique().tolist()
    changed = (model.target_embedding.weight != before).any(1).nonzero().flatten().tolist()
    assert changed == [token for token in read if token != SPEC.begin]
    assert (model.target_embedding.weight[SPEC.begin] == 0).all()


def test_dropout_acts_on_embeddings_and_maxout_units_in_training_alone(monkeypatch):
    halve(monkeypatch)
    model, batch = model_of(dropout=0.5), PAIRS.batch(3, empty=False)
    assert torch.equal(model(batch).logits, model_of()(batch).logits)
    model.train()
    expected, _ = slow_batch(model, batch, keep=0.5)
    torch.testing.assert_close(model(batch).logits, expected, rtol=1e-12, atol=1e-12)
    log_probs, _ = by_steps(model, batch, PAIRS.without_targets(batch))
    found = batch.target_packing.pack(log_probs)
    torch.testing.assert_close(found, expected.log_softmax(-1), rtol=1e-12, atol=1e-12)


def test_half_precision_weights_run():
    model, batch = model_of().bfloat16(), PAIRS.batch(3)
    output = model(batch)
    assert output.logits.dtype == output.attention["source"].dtype == torch.bfloat16
    torch.testing.assert_close(output.logits.double(), model_of()(batch).logits, rtol=0.1, atol=0.1)


def test_the_papers_size():
    """The parts of A.1 and A.2 at their sizes; torch's second bias in the encoder beside them."""
    spec = PairSpec(source_size=100, target_size=90, longest_source=50, longest_target=50)
    model = RNNSearch(spec)
    n, e, inner, units = 1000, 620, 1000, 500
    encoder = 2 * (3 * n * (e + n) + 6 * n)
    attention = inner * n + inner * 2 * n + inner
    decoder = 3 * n * (e + n + 2 * n) + 3 * n + n * n
    output = 2 * units * (n + e + 2 * n) + 2 * units + 90 * units
    assert sum(part.numel() for part in model.parameters()) == 190 * e + encoder + attention + decoder + output


def test_an_unknown_name_is_named():
    with pytest.raises(ValueError, match="expected orthogonal or paper, found 'papers'"):
        RNNSearch(SPEC, init="papers")
    with pytest.raises(ValueError, match="did you mean 'additive'"):
        RNNSearch(SPEC, score="aditive")
