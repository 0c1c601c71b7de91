"""Tours by a pointer network with a glimpse, and its critic, against the paper's equations as slow loops."""

import pytest
import torch

from tests.models.equations import (
    DOUBLE,
    additive,
    assert_equal,
    assert_same_gradients,
    exactly,
    lstm,
    mean,
    softmax,
)
from tests.models.pointing_loops import POINTS, SPEC, assert_equal_loops, embedded, read, run
from zoo.models import Critic, NeuralCombinatorial

VARIANTS = [{"glimpses": 0, "clip": None}]
"""Another way through the network than its default, which keeps the contract too."""

SMALL = {"embedding_dim": 4, "hidden_dim": 5, "init_range": 0.8}


def model_of(**settings):
    torch.manual_seed(0)
    return exactly(NeuralCombinatorial(SPEC, **SMALL | settings))


def decode(model, points, tokens):
    seen = [embedded(model.reader, point) for point in points]
    states, h, c = run(model.encoder, seen)
    places = [model.end, *states]
    for token in tokens:
        h, c = lstm(model.decoder, read(token, model.reader.begin, seen, 4), h, c)
        q = h
        if model.glimpse is not None:
            a = softmax([additive(model.glimpse, h, place) for place in places])
            q = mean(a, [model.glimpse.key_projection.weight @ place for place in places])
        u = [additive(model.score, q, place) for place in places]
        if model.clip is not None:
            u = [model.clip * one.tanh() for one in u]
        yield u, softmax(u)


@pytest.mark.parametrize("clip", [None, 10.0, 0.5])
@pytest.mark.parametrize("glimpses", [0, 1])
def test_equals_the_equations(glimpses, clip):
    model = model_of(glimpses=glimpses, clip=clip)
    assert_equal_loops(model, POINTS.batch(3), lambda *given: decode(model, *given))


def expected_length(model, points):
    """The critic's value of one set."""
    states, h, c = run(model.encoder, [model.embedding(point) for point in points])
    for _ in range(model.process_steps):
        refs = [model.glimpse.key_projection.weight @ r for r in states]
        a = softmax([additive(model.glimpse, h, r) for r in states])
        g = mean(a, refs) if refs else torch.zeros(5, dtype=DOUBLE)
        h, c = lstm(model.process, g, h, c, "")
    first, _, second = model.prediction
    return second.weight[0] @ (first.weight @ h + first.bias).clamp(min=0) + second.bias[0]


@pytest.mark.parametrize("process_steps", [0, 1, 3])
def test_the_critic_equals_its_equations(process_steps):
    torch.manual_seed(0)
    critic, batch = Critic(SPEC, process_steps=process_steps, **SMALL).double(), POINTS.batch(3)
    found = critic(batch)
    sets = [list(points[mask].double()) for points, mask in zip(batch.points, batch.point_mask, strict=True)]
    expected = torch.stack([expected_length(critic, points) for points in sets])
    assert_equal(found, expected)
    random = torch.randn_like(expected)
    assert_same_gradients(critic, (found * random).sum(), (expected * random).sum())


def test_the_critic_reads_no_padding_and_no_target():
    torch.manual_seed(0)
    critic, batch = Critic(SPEC, **SMALL).double(), POINTS.batch(3)
    expected = critic(batch)
    for other in (POINTS.padded(batch), POINTS.scribbled(batch), POINTS.without_targets(batch)):
        assert_equal(critic(other), expected)
