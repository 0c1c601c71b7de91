"""Parts of networks that point: tables of tokens, scores of packed queries, glimpses, logits, names of positions."""

import pytest
import torch

from tests.families import family_of
from tests.layers.compared import assert_equal
from zoo.attention import AdditiveScore, masked_softmax
from zoo.layers.packing import Packing
from zoo.layers.pointing import (
    PointReader,
    PositionEmbedding,
    PositionVocabulary,
    at_places,
    glimpse_of,
    read_tokens,
    scores_of,
    token_logits,
    token_table,
)

POINTS = family_of("pointing")
DOUBLE = torch.float64


def test_a_table_has_rows_for_padding_begin_end_and_points():
    points = torch.arange(12.0).view(2, 3, 2)
    table = token_table(points, torch.tensor([7.0, 8.0]))
    assert table.shape == (2, 6, 2)
    assert table[1].tolist() == [[0, 0], [7, 8], [0, 0], [6, 7], [8, 9], [10, 11]]
    assert read_tokens(torch.tensor([[3, 1], [5, 0]]), table).tolist() == [[[0, 1], [7, 8]], [[10, 11], [0, 0]]]
    packing = Packing.of(torch.tensor([[True, False], [True, True]]))
    packed = read_tokens(torch.tensor([[3, 0], [1, 4]]), table, packing)
    assert torch.equal(packing.unpack(packed), torch.tensor([[[0.0, 1], [0, 0]], [[7, 8], [8, 9]]]))


@pytest.mark.parametrize("embedding_dim", [0, 4])
def test_a_reader_reads_tokens_as_their_points(embedding_dim):
    torch.manual_seed(0)
    reader, batch = PointReader(2, embedding_dim).double(), POINTS.batch(3)
    table = reader.table(batch.points)
    assert table.shape == (len(batch), 10, 4)
    read, _, packing = batch.forced
    slow = token_table(reader(batch.points), reader.begin)
    torch.testing.assert_close(reader.tokens(read, table, packing), read_tokens(read, slow, packing))
    torch.testing.assert_close(reader.tokens(read, table), read_tokens(read, slow))
    mean = torch.rand(len(batch), 2, 10, dtype=DOUBLE).softmax(-1)
    torch.testing.assert_close(reader.tokens(mean, table), read_tokens(mean, slow))


@pytest.mark.parametrize("seed", [1, 2])
def test_scores_of_packed_queries_are_those_of_the_score(seed):
    torch.manual_seed(seed)
    batch, score = POINTS.batch(seed), AdditiveScore(4, 5, 6).double()
    packing, width = batch.target_packing, batch.memory_mask.shape[1]
    queries = torch.randn(len(packing.cell), 4, dtype=DOUBLE, requires_grad=True)
    keys = score.prepare(torch.randn(len(batch), width, 5, dtype=DOUBLE))
    found = scores_of(score, queries, keys, packing)
    expected = packing.pack(score(packing.unpack(queries), keys))
    assert_equal((found,), (expected,), queries, score, tolerance=1e-12)

    values, mask = torch.randn(len(batch), width, 3, dtype=DOUBLE), batch.content_mask
    glimpses = glimpse_of(score, queries, keys, values, mask, packing)
    weights = masked_softmax(score(packing.unpack(queries), keys), mask[:, None])
    torch.testing.assert_close(glimpses, packing.pack(weights @ values), rtol=1e-12, atol=1e-12)

    asked = packing.unpack(queries)  # as if its steps were hypotheses
    torch.testing.assert_close(scores_of(score, asked, keys), score(asked, keys), rtol=1e-12, atol=1e-12)
    seen = glimpse_of(score, asked, keys, values, mask)
    torch.testing.assert_close(seen, weights @ values, rtol=1e-12, atol=1e-12)


def test_the_end_stands_before_the_points():
    packing = Packing.of(torch.tensor([[True, True], [True, False], [False, False]]))
    rows = packing.pack(torch.arange(6.0).view(3, 2, 1) + 1)
    assert at_places(rows, torch.tensor([9.0]), packing)[..., 0].tolist() == [[9, 1, 2], [9, 3, 0], [9, 0, 0]]


def test_logits_have_two_columns_in_front():
    scores, mask = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True), torch.tensor([[True, True, False]])
    logits = token_logits(scores, mask)
    assert logits.tolist() == [[-torch.inf, -torch.inf, 1.0, 2.0, -torch.inf]]
    (gradient,) = torch.autograd.grad(-logits.log_softmax(-1)[0, 2], scores)
    torch.testing.assert_close(gradient, torch.tensor([[-0.7310586, 0.7310586, 0.0]]))  # 1 / (1 + 1 / e)


def test_names_of_positions_reach_beyond_the_batch_or_not():
    torch.manual_seed(0)
    vocabulary, embedding = PositionVocabulary(4, 5), PositionEmbedding(5, 3, padding=0)
    states = torch.randn(2, 4)
    narrow, wide = torch.ones(2, 3, dtype=torch.bool), torch.ones(2, 8, dtype=torch.bool)
    wide[:, 6:] = False
    for mask, real in ((narrow, 3), (wide, 6)):
        logits = vocabulary.logits(states, mask)
        assert logits.shape == (2, 8)
        assert torch.equal(logits[:, 2 : 2 + real], vocabulary(states)[:, :real])
        assert (logits[:, :2] == -torch.inf).all()
        assert (logits[:, 2 + real :] == -torch.inf).all()
    certain = torch.nn.functional.one_hot(torch.tensor([4]), 6).float()
    assert torch.equal(embedding(certain), embedding(torch.tensor([4])))
