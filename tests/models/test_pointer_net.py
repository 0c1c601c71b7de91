"""Pointer networks against the paper's equations as slow loops and against torch's LSTMs, sizes, start, what is fed."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.models.equations import (
    DOUBLE,
    additive,
    assert_equal,
    exactly,
    lstm,
    softmax,
)
from tests.models.pointing_loops import FIRST, POINTS, SPEC, assert_equal_loops, embedded, read, run
from zoo.models import PointerNet

VARIANTS = [{"embedding_dim": 0}]
"""Another way through the network than its default, which keeps the contract too."""


def model_of(**settings):
    torch.manual_seed(0)
    return exactly(PointerNet(SPEC, **{"embedding_dim": 4, "hidden_dim": 5, "init_range": 0.8} | settings))


def decode(model, points, tokens):
    """The scores of the places and p(C_i) at each step."""
    seen = [embedded(model.reader, point) for point in points]
    states, h, c = run(model.encoder, seen)
    places = [model.end, *states]
    for token in tokens:
        h, c = lstm(model.decoder, read(token, model.reader.begin, seen, model.reader.width), h, c)
        u = [additive(model.score, h, e) for e in places]
        yield u, softmax(u)


@pytest.mark.parametrize("embedding_dim", [4, 0])
def test_equals_the_equations(embedding_dim):
    model = model_of(embedding_dim=embedding_dim)
    assert_equal_loops(model, POINTS.batch(3), lambda *given: decode(model, *given))


def test_equals_torchs_layers():
    """torch.nn.LSTM, unpacked, and the score of all pairs at once, on sets of one size."""
    model, batch = model_of(), POINTS.with_target(POINTS.part(POINTS.batch(3), [2]), [5, 9, 4, 3, 2])
    layers = {}
    for name, ours in (("encoder", model.encoder), ("decoder", model.decoder)):
        layers[name] = nn.LSTM(4, 5, batch_first=True).double()
        layers[name].load_state_dict(ours.state_dict())
    points = model.reader.embedding(batch.points.double())
    e, state = layers["encoder"](points)
    fed = torch.cat([model.reader.begin[None, None], points[:, batch.target[0, :-1] - FIRST]], 1)
    d, _ = layers["decoder"](fed, state)
    e = torch.cat([model.end.expand(1, 1, -1), e], 1)
    u = (model.score.query_projection(d)[:, :, None] + model.score.key_projection(e)[:, None]).tanh() @ model.score.v
    assert_equal(model(batch).logits[:, 2:], u[0])


def test_a_distribution_reads_as_its_mean_point():
    model, batch = model_of(), POINTS.without_targets(POINTS.part(POINTS.batch(3), [0]))
    state = model.start(batch)
    certain = torch.zeros(1, 1, 3 + batch.points.shape[1], dtype=DOUBLE)
    certain[0, 0, FIRST], certain[0, 0, FIRST + 2] = 0.25, 0.75
    mean = 0.25 * batch.points[0, 0] + 0.75 * batch.points[0, 2]
    moved = batch.points.clone()
    moved[0, 0] = mean
    alone = replace(state, memory={**state.memory, "tokens": model.reader.table(moved)})
    expected = model.step(torch.tensor([[FIRST]]), alone).log_probs
    assert_equal(model.step(certain, state).log_probs, expected)
