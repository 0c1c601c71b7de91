"""Parts of networks that point: tables of tokens, scores of packed queries, glimpses, logits, names of positions."""

import torch

from tests.families import family_of
from zoo.layers.packing import Packing
from zoo.layers.pointing import PositionEmbedding, PositionVocabulary, at_places, read_tokens, token_logits, token_table

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
