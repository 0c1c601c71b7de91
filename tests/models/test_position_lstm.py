"""The baseline that names positions against its equations as slow loops, and what it says of too large sets."""

import pytest
import torch

from tests.models.equations import DOUBLE, exactly, linear, lstm
from tests.models.pointing_loops import POINTS, SPEC, TEN, assert_equal_loops, run
from zoo.data.points.batch import PointBatch
from zoo.errors import DataError
from zoo.models import PositionAttention, PositionLSTM


def model_of(spec=TEN, **settings):
    torch.manual_seed(0)
    return exactly(PositionLSTM(spec, **{"embedding_dim": 4, "hidden_dim": 5, "init_range": 0.8} | settings))


def decode(model, points, tokens):
    _, h, c = run(model.encoder, [model.point_embedding(point) for point in points])
    for token in tokens:
        h, c = lstm(model.decoder, model.position_embedding.weight[token], h, c)
        scores = linear(model.vocabulary, h)
        yield list(scores[: 1 + len(points)]), None


def test_equals_the_equations():
    model = model_of()
    assert_equal_loops(model, POINTS.batch(3), lambda *given: decode(model, *given), places=11)


@pytest.mark.parametrize("cls", [PositionLSTM, PositionAttention])
def test_a_set_that_is_too_large_is_named(cls):
    model = cls(TEN, embedding_dim=4, hidden_dim=4)
    points, mask = torch.rand(2, 12, 2), torch.ones(2, 12, dtype=torch.bool)
    with pytest.raises(DataError, match=r"12 points.*first 10 positions.*model=pointer_net"):
        model.start(PointBatch(points, mask))
    mask[:, 10:] = False
    assert model.start(PointBatch(points, mask)).memory["mask"].shape == (2, 13)  # padding is not a point


def test_a_distribution_over_the_batchs_own_tokens_reads_as_one_over_all():
    model, batch = model_of(), POINTS.without_targets(POINTS.batch(3, empty=False))
    state = model.start(batch)
    narrow = torch.rand(len(batch), 1, 10, dtype=DOUBLE)
    wide = torch.cat([narrow, torch.zeros(len(batch), 1, 3, dtype=DOUBLE)], -1)
    assert torch.equal(model.step(narrow, state).log_probs, model.step(wide, state).log_probs)
    assert SPEC.longest > 10
