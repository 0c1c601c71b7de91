"""The baseline with attention against the paper's equations (2) as slow loops, and what feeds the next step."""

import torch

from tests.models.equations import DOUBLE, additive, exactly, linear, lstm, mean, softmax
from tests.models.pointing_loops import POINTS, TEN, assert_equal_loops, run
from zoo.models import PositionAttention


def model_of(**settings):
    torch.manual_seed(0)
    return exactly(PositionAttention(TEN, **{"embedding_dim": 4, "hidden_dim": 5, "init_range": 0.8} | settings))


def decode(model, points, tokens):
    states, h, c = run(model.encoder, [model.point_embedding(point) for point in points])
    context = torch.zeros(5, dtype=DOUBLE)
    for token in tokens:
        h, c = lstm(model.decoder, torch.cat([model.position_embedding.weight[token], context]), h, c)
        a = softmax([additive(model.score, h, e) for e in states])
        context = mean(a, states) if states else context
        scores = linear(model.vocabulary, torch.cat([h, context]))
        yield list(scores[: 1 + len(points)]), [torch.zeros((), dtype=DOUBLE), *a]


def test_equals_the_equations():
    model = model_of()
    assert_equal_loops(model, POINTS.batch(3), lambda *given: decode(model, *given), places=11)
