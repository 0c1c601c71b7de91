"""Columns and windows of a stream: counts worked by hand, every token once, equal batches for any number of ranks."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from zoo.data.language.windows import (
    EvaluatedColumns,
    StoredStream,
    TrainingColumns,
    Window,
    WindowOptions,
    collate,
)
from zoo.errors import ConfigError


def windows(length, **rest):
    return WindowOptions(length=length, **rest)


@pytest.mark.parametrize(
    ("size", "columns", "length", "column", "count", "after"),
    [
        (929_589, 20, 20, 46_479, 2_323, 9),  # the Penn Treebank: Zaremba et al.'s small network
        (929_589, 20, 35, 46_479, 1_327, 9),
        (217_646, 10, 35, 21_764, 621, 6),  # validation of WikiText-2
        (1_115_394, 50, 50, 22_307, 446, 44),  # char-rnn on Tiny Shakespeare: 423 + 23 windows
    ],
)
def test_columns_are_counted_as_in_the_papers(size, columns, length, column, count, after):
    order = TrainingColumns(size, columns, windows(length))
    assert (order.column, len(order), order.left_out[0]) == (column, count, after)
    assert order.left_out[1] == columns * (column - 1 - count * length)


def test_windows_by_hand():
    """11 tokens in 2 columns of 5: two windows of 2 read tokens 0-1, 2-3 and 5-6, 7-8, and predict those after them."""
    order = TrainingColumns(11, 2, windows(2))
    assert [[tuple(row) for row in batch] for batch in order] == [[(0, 0, 2), (1, 5, 2)], [(2, 2, 2), (3, 7, 2)]]
    stream = StoredStream("train", {"ids": np.arange(100, 111, dtype=np.uint16)}, 1.5)
    first, second = (collate(stream.__getitems__(batch)) for batch in order)
    assert first.target_input.tolist() == [[100, 101], [105, 106]] and first.target.tolist() == [[101, 102], [106, 107]]
    assert second.target_input.tolist() == [[102, 103], [107, 108]] and second.target_mask.all()
    assert first.text_bytes == 6.0 and first.index.tolist() == [0, 1]


@pytest.mark.parametrize(("size", "columns", "length"), [(2, 8, 3), (3, 1, 1), (50, 7, 4), (101, 8, 35), (64, 3, 64)])
def test_evaluation_predicts_every_token_after_the_first_once(size, columns, length):
    order = EvaluatedColumns(size, columns, length)
    batches = [*order]
    predicted = [place + 1 for batch in batches for _, start, count in batch for place in range(start, start + count)]
    assert sorted(predicted) == [*range(1, size)] and len(batches) == len(order)
    for before, after in pairwise(batches):  # each row continues the same row of the batch before
        assert all(one.start + one.length == two.start for one, two in zip(before, after, strict=False))
    assert all(0 < row.length <= length for batch in batches for row in batch)


def test_ranks_share_the_columns():
    whole = [*TrainingColumns(200, 5, windows(6))]
    ranks = [[*TrainingColumns(200, 5, windows(6), rank=rank, world_size=2)] for rank in range(2)]
    assert len(whole) == len(ranks[0]) == len(ranks[1])
    for batch, one, other in zip(whole, *ranks, strict=True):
        assert (batch[::2], batch[1::2]) == (one, other)


def test_random_windows_fill_the_columns_and_follow_from_the_epoch():
    order = TrainingColumns(20_001, 10, windows(70, deviation=5.0, half=0.05))
    assert len(order) == 28  # as many as windows of 70 that fit into 1,999
    lengths = [batch[0].length for batch in order]
    assert sum(lengths) == 1_999 and order.left_out == (1, 0)
    assert [batch[0].length for batch in order] == lengths
    order.set_epoch(1)
    assert [batch[0].length for batch in order] != lengths
    many = TrainingColumns(7_000_001, 1, windows(70, deviation=5.0, half=0.05))
    drawn = np.diff(many.places())
    assert 0.03 < (drawn < 52).mean() < 0.07  # half of 70, scaled
    assert 4 < drawn[drawn >= 52].std() < 6


def test_the_rate_of_a_random_window_follows_its_length():
    stream = StoredStream("train", {"ids": np.arange(100, dtype=np.uint16)}, 1.0, usual=8)
    assert collate(stream[Window(0, 3, 6)]).rate_share == 6 / 8
    assert collate(StoredStream("val", stream.parts, 1.0)[Window(0, 3, 6)]).rate_share == 1


def test_resuming_skips_the_batches_that_are_done():
    order = TrainingColumns(200, 4, windows(6))
    order.start = 3
    assert [*order] == [*TrainingColumns(200, 4, windows(6))][3:]


def test_too_short_a_text_is_one_line():
    expected = "100 training tokens in 20 columns .*: 5 in each, but a window needs 36 .*, or at most 2 columns"
    with pytest.raises(ConfigError, match=expected):
        TrainingColumns(100, 20, windows(35))
    with pytest.raises(ConfigError, match=r"a window needs 36 .*; use a longer text, a smaller window$"):
        TrainingColumns(30, 1, windows(35))  # too short for any number of columns
    with pytest.raises(ConfigError, match="1 column of a text cannot be shared by 2 processes"):
        EvaluatedColumns(100, 1, 35, rank=0, world_size=2)


def test_rows_of_unequal_length_are_padded():
    stream = StoredStream(
        "val", {"ids": np.arange(1, 9, dtype=np.uint8), "distance": np.arange(8, dtype=np.uint8)}, 1.0
    )
    (batch,) = (collate(stream.__getitems__(rows)) for rows in EvaluatedColumns(8, 2, 4))
    assert batch.target_input.tolist() == [[1, 2, 3, 4], [5, 6, 7, 0]]
    assert batch.target.tolist() == [[2, 3, 4, 5], [6, 7, 8, 0]]
    assert batch.target_mask.tolist() == [[True] * 4, [True] * 3 + [False]]
    assert batch.distance.dtype == torch.long and batch.distance.tolist() == [[1, 2, 3, 4], [5, 6, 7, 0]]
