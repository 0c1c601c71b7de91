"""Common equations of pointing networks, as slow loops over one set, and batches of such loops."""

import torch
import torch.nn.functional as F

from tests.families import family_of
from tests.models.equations import DOUBLE, assert_equal, assert_same_gradients, linear, lstm
from zoo.data.points.batch import PointSpec

POINTS = family_of("pointing")
SPEC = POINTS.spec
FIRST = SPEC.first
TEN = PointSpec(width=2, longest=10, longest_target=12, goal="hull", groups=("n10",))


def run(rnn, inputs):
    """The states of an LSTM after each of `inputs`, and its last (h, c)."""
    h = c = torch.zeros(rnn.hidden_size, dtype=DOUBLE)
    states = []
    for x in inputs:
        h, c = lstm(rnn, x, h, c)
        states.append(h)
    return states, h, c


def embedded(reader, point):
    """The embedding that a `PointReader` computes for a point."""
    return point if reader.embedding is None else linear(reader.embedding, point)


def read(token, begin, points, width):
    """Input of a decoder: the point that `token` points at, begin, or nothing."""
    if token == SPEC.begin:
        return begin
    return points[token - FIRST] if token >= FIRST else torch.zeros(width, dtype=DOUBLE)


def slow_batch(decode, batch, places):
    """Logits (N, 2 + `places`) and weights (B, T, S) from `decode`, which gives for the points of one set and the
    tokens read the scores of its places and its weights, both lists, at each step."""
    count, steps, width = len(batch), batch.target.shape[1], batch.memory_mask.shape[1]
    logits = torch.full((count, steps, 2 + places), -torch.inf, dtype=DOUBLE)
    weights = torch.zeros(count, steps, width, dtype=DOUBLE)
    for row in range(count):
        points = list(batch.points[row][batch.point_mask[row]].double())
        tokens = batch.target_input[row][batch.target_mask[row]].tolist()
        for t, (scores, attention) in enumerate(decode(points, tokens)):
            logits[row, t] = F.pad(torch.stack(scores), (2, places - len(scores)), value=-torch.inf)
            if attention:
                weights[row, t] = F.pad(torch.stack(attention), (0, width - len(attention)))
    return batch.target_packing.pack(logits), weights


def assert_equal_loops(model, batch, decode, places=None):
    """Log-probabilities, attention and gradients of a model are those of its equations as loops."""
    output = model(batch)
    logits, weights = slow_batch(decode, batch, places or batch.memory_mask.shape[1])
    found, expected = output.logits.log_softmax(-1), logits.log_softmax(-1)
    assert_equal(found, expected)
    sides = [[found.where(found.isfinite(), 0.0)], [expected.where(expected.isfinite(), 0.0)]]
    for name in output.attention:
        assert name == "source"
        assert_equal(output.attention[name], weights)
        sides[0].append(output.attention[name])
        sides[1].append(weights)
    random = [torch.randn_like(part) for part in sides[1]]
    losses = [sum((part * by).sum() for part, by in zip(side, random, strict=True)) for side in sides]
    assert_same_gradients(model, *losses)
