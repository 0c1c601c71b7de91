"""RNNsearch against the paper's equations written as slow loops, its start, its order of looking, its steps."""

import pytest
import torch

from tests.families import family_of
from tests.models.equations import (
    DOUBLE,
    additive,
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
    mean,
    pairs_of,
    sigmoid,
    softmax,
    weights_of,
)
from zoo.data.pairs.spec import PairSpec
from zoo.models import RNNSearch

VARIANTS = [{"score": "general"}, {"score": "dot"}, {"score": "tests.models.own_scores.Bilinear"}]
"""Other ways through the network than its defaults, which keep the contract too."""

PAIRS = family_of("translation")
SPEC = PAIRS.spec
SMALL = {"embedding_dim": 4, "hidden_dim": 5, "attention_dim": 6, "maxout_dim": 3}


def model_of(**settings):
    torch.manual_seed(0)
    return exactly(RNNSearch(SPEC, **SMALL | settings), biases=True)


def gru(sums, s, u_r, u_z, u):
    """A.1.1 and A.1.2, from what the input and the context give to the three sums."""
    x_r, x_z, x = sums
    r, z = sigmoid(x_r + u_r @ s), sigmoid(x_z + u_z @ s)
    return (1 - z) * s + z * (x + u @ (r * s)).tanh()


def encode(model, source, keep=1.0):
    """The states forward and backward h_1, ..., h_S of one sentence, two lists."""
    sides = []
    for suffix, words in (("_l0", source), ("_l0_reverse", source[::-1])):
        w, u, b, k = weights_of(model.encoder, suffix)
        h, states = torch.zeros(len(u) // 3, dtype=DOUBLE), []
        for token in words:
            h = gru((w @ (keep * model.source_embedding.weight[token]) + b + k).chunk(3), h, *u.chunk(3))
            states.append(h)
        sides.append(states)
    return sides[0], sides[1][::-1]


def decode(model, h, s, read, keep=1.0):
    """Scores (T, V) and weights (T, S) from the annotations h, a list, and s_0. `keep` replaces dropout."""
    scores, found = [], []
    for token in read:
        y = keep * model.target_embedding.weight[token]
        a = softmax([additive(model.score, s, h_j) for h_j in h])
        c = mean(a, h)
        t = linear(model.output_state, s) + linear(model.output_token, y) + linear(model.output_context, c)
        scores.append(model.vocabulary.weight @ (keep * largest_of_pairs(t)))
        found.append(torch.stack(a))
        sums = linear(model.decoder_token, y) + linear(model.decoder_context, c)
        s = gru(sums.chunk(3), s, *model.decoder_state.weight.chunk(3))
    return torch.stack(scores), torch.stack(found)


def rows(model, batch, keep=1.0):
    for source, read in pairs_of(batch):
        forward, backward = encode(model, source, keep)
        h = [torch.cat(pair) for pair in zip(forward, backward, strict=True)]
        yield decode(model, h, linear(model.initial_state, backward[0]).tanh(), read, keep)


CONSTANT = [("target_embedding.weight", SPEC.begin)]


def test_equals_the_equations():
    model, batch = model_of(), PAIRS.batch(3, empty=False)
    assert_equals_the_equations(model, batch, rows(model, batch), constant=CONSTANT)


def test_the_papers_start_looks_everywhere_alike():
    torch.manual_seed(0)
    model, batch = RNNSearch(SPEC, **SMALL, init="paper").double(), PAIRS.batch(3)
    words, targets = batch.source_mask.double(), batch.target_mask
    even = (words / words.sum(1, keepdim=True).clamp_min(1))[:, None] * targets[..., None]
    torch.testing.assert_close(model(batch).attention["source"], even, rtol=1e-12, atol=1e-12)
    assert model.score.v.abs().max() == 0


def assert_decoder_start(model, init):
    """The decoder and the linear maps that read an encoder, in either kind of start."""
    paper = init == "paper"
    assert_orthogonal(model.decoder_state.weight.chunk(3))
    linears = [model.initial_state, model.decoder_token, model.decoder_context, model.output_state, model.output_token]
    matrices = [part.weight for part in (*linears, model.output_context, model.vocabulary)]
    assert_deviation(matrices, 0.01 if paper else glorot)
    scores = model.score.query_projection.weight, model.score.key_projection.weight
    assert_deviation(scores, 0.001 if paper else glorot)
    assert model.score.v.any() != paper
    assert_deviation([model.target_embedding.weight], 0.01 if paper else 1.0)
    assert not model.target_embedding.weight[SPEC.begin].any()


@pytest.mark.parametrize("init", ["orthogonal", "paper"])
def test_start(init):
    torch.manual_seed(0)
    spec = PairSpec(400, 500, 9, 9)
    model = RNNSearch(spec, embedding_dim=60, hidden_dim=80, attention_dim=70, maxout_dim=50, init=init)
    assert_decoder_start(model, init)
    encoder = model.encoder
    assert_orthogonal([*encoder.weight_hh_l0.chunk(3), *encoder.weight_hh_l0_reverse.chunk(3)])
    assert not any(part.any() for name, part in model.named_parameters() if "bias" in name)
    read = [*encoder.weight_ih_l0.chunk(3), *encoder.weight_ih_l0_reverse.chunk(3)]
    assert_deviation(read, 0.01 if init == "paper" else glorot)
    assert_deviation([model.source_embedding.weight], 0.01 if init == "paper" else 1.0)


def test_dropout_acts_on_embeddings_and_maxout_units_in_training_alone(monkeypatch):
    halve(monkeypatch)
    model, batch = model_of(dropout=0.5), PAIRS.batch(3, empty=False)
    assert_drops(model, model_of(), batch, rows(model, batch, keep=0.5), PAIRS.without_targets(batch))


def test_the_papers_size():
    """The parts of A.1 and A.2 at their sizes; torch's second bias in the encoder beside them."""
    spec = PairSpec(source_size=100, target_size=90, longest_source=50, longest_target=50)
    model = RNNSearch(spec)
    n, e, inner, units = 1000, 620, 1000, 500
    encoder = 2 * (3 * n * (e + n) + 6 * n)
    attention = inner * n + inner * 2 * n + inner
    decoder = 3 * n * (e + n + 2 * n) + 3 * n + n * n
    output = 2 * units * (n + e + 2 * n) + 2 * units + 90 * units
    assert count(model) == 190 * e + encoder + attention + decoder + output
