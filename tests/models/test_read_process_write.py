"""Sets read in any order: the paper's equations as slow loops, and points that change places."""

import pytest
import torch

from tests.models.equations import DOUBLE, additive, exactly, lstm, mean, softmax
from tests.models.pointing_loops import POINTS, SPEC, assert_equal_loops, read
from zoo.models import ReadProcessWrite

VARIANTS = [{"process_steps": 0, "glimpses": 0}]
"""Another way through the network than its default, which keeps the contract too."""


def model_of(**settings):
    torch.manual_seed(0)
    return exactly(ReadProcessWrite(SPEC, **{"hidden_dim": 5, "process_steps": 3, "init_range": 0.8} | settings))


def decode(model, points, tokens):
    m = [model.reader(point) for point in points]
    q = c = r = torch.zeros(5, dtype=DOUBLE)
    for _ in range(model.process_steps):
        q, c = lstm(model.process, r, q, c, "")
        r = mean(softmax([one @ q for one in m]), m) if m else r
    both = model.hand_over(torch.cat([q, r])) if model.process_steps else model.initial
    h, c = both.chunk(2)
    for token in tokens:
        h, c = lstm(model.decoder, read(token, model.begin, m, 5), h, c)
        asks = h
        if model.glimpse is not None and m:
            asks = h + mean(softmax([additive(model.glimpse, h, one) for one in m]), m)
        u = [additive(model.score, asks, place) for place in (model.end, *m)]
        yield u, softmax(u)


@pytest.mark.parametrize("glimpses", [0, 1])
@pytest.mark.parametrize("process_steps", [0, 1, 3])
def test_equals_the_equations(process_steps, glimpses):
    model = model_of(process_steps=process_steps, glimpses=glimpses)
    assert_equal_loops(model, POINTS.batch(3), lambda *given: decode(model, *given))


def test_units_begin_to_act_inside_the_unit_square():
    """Each unit of the first layer is 0 on a line through the square."""
    torch.manual_seed(0)
    first = ReadProcessWrite(SPEC, hidden_dim=64).reader[0]
    corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    values = first(corners)
    assert (values.amin(0) < 0).all()
    assert (values.amax(0) > 0).all()
