"""A stream in order, and what a family has to do to choose an order."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.pairs.toy import Toy, prepared
from zoo.data.order import InOrder
from zoo.errors import ConfigError


def flat(lists):
    return [number for part in lists for number in part]


@settings(max_examples=150)
@given(st.integers(1, 200), st.integers(1, 40), st.integers(1, 4))
def test_each_row_continues_the_row_of_the_batch_before(size, batch_size, world):
    try:
        ranks = [InOrder(size, batch_size=batch_size, rank=rank, world_size=world) for rank in range(world)]
    except ConfigError:
        assert size < world or batch_size < 2 * world
        return
    parts = [list(order) for order in ranks]
    assert sorted(flat(flat(part) for part in parts)) == list(range(size))
    assert {len(part) for part in parts} == {len(ranks[0])}
    for part in parts:
        for batch, following in pairwise(part):
            assert following == [number + 1 for number in batch[: len(following)]]
    alone = list(InOrder(size, batch_size=batch_size))
    for whole, *shares in zip(alone, *parts, strict=True):
        assert all(shares) and len(whole) <= batch_size
        assert [whole[rank::world] for rank in range(world)] == shares  # the same batch on any number of processes
    ranks[0].set_epoch(3)
    assert list(ranks[0]) == parts[0]


def test_in_order_refuses_what_cannot_be_shared():
    with pytest.raises(ConfigError, match=r"3 examples cannot give each of 4 processes one .* too few"):
        InOrder(3, batch_size=64, world_size=4)
    with pytest.raises(ConfigError, match=r"data\.loader\.batch_size=2 is too small"):
        InOrder(30, batch_size=2, world_size=4)


def test_a_stream_is_read_in_order_in_training_and_evaluation(cache_dir):
    """`continues` alone decides it: a family that overrides one of the orders does not validate in another one."""

    class Stream(Toy):
        continues = True

        def training_order(self, part):
            raise AssertionError("not asked")

    data = prepared(Stream(loader={"batch_size": 7}))
    read = [batch.index.tolist() for batch in data.train_dataloader()]
    assert read == [list(range(step, 60, 9)) for step in range(9)]
    assert [batch.index.tolist() for batch in data.val_dataloader()] == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]
    data = prepared(Stream(loader={"batch_size": 7, "max_tokens": 100}))
    with pytest.raises(ConfigError, match=r"data.loader.max_tokens=100: toy is read in order"):
        data.train_dataloader()


def test_a_family_chooses_its_order(cache_dir):
    class Stories(Toy):
        def training_order(self, part):
            return InOrder(len(part), batch_size=self.loader.batch_size, **self.ranks)

    data = prepared(Stories(loader={"batch_size": 60}))
    assert flat(batch.index.tolist() for batch in data.train_dataloader()) == list(range(60))
