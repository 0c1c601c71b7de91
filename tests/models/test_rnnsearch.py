"""The equations of RNNsearch as slow loops, and all scores by the loop and by steps."""

import torch

from tests.families import family_of
from tests.models.equations import (
    DOUBLE,
    additive,
    exactly,
    largest_of_pairs,
    linear,
    mean,
    pairs_of,
    sigmoid,
    softmax,
    weights_of,
)
from zoo.models import RNNSearch

PAIRS = family_of("translation")
BATCH = PAIRS.batch(3, empty=False)
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
