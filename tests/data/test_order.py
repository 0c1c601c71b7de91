"""Orders other than by length: a stream as it stands, whole groups; what a family has to do to choose one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.pairs.toy import Toy, prepared
from zoo.data.order import Grouped, InOrder
from zoo.errors import ConfigError


def flat(lists):
    return [number for part in lists for number in part]


@settings(max_examples=150)
@given(st.integers(1, 200), st.integers(1, 40), st.integers(1, 4))
def test_in_order_each_process_reads_a_part_of_its_own_to_its_end(size, batch_size, world):
    try:
        ranks = [InOrder(size, batch_size=batch_size, rank=rank, world_size=world) for rank in range(world)]
    except ConfigError:
        assert size < world or batch_size < 2 * world
        return
    parts = [list(order) for order in ranks]
    assert flat(flat(part) for part in parts) == list(range(size))
    assert {len(part) for part in parts} == {len(ranks[0])}
    for step in zip(*parts, strict=True):
        assert all(step)
        assert len(flat(step)) <= batch_size
    ranks[0].set_epoch(3)
    assert list(ranks[0]) == parts[0]


def test_in_order_refuses_what_cannot_be_shared():
    with pytest.raises(ConfigError, match=r"3 examples cannot give each of 4 processes one .* too few"):
        InOrder(3, batch_size=64, world_size=4)
    with pytest.raises(ConfigError, match=r"data\.loader\.batch_size=2 is too small"):
        InOrder(30, batch_size=2, world_size=4)


@settings(max_examples=150)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=120), st.integers(1, 60), st.integers(1, 3), st.booleans())
def test_a_group_is_never_torn(groups, batch_size, world, shuffle):
    groups = np.array(groups)
    options = {"batch_size": batch_size, "shuffle": shuffle, "seed": 1, "world_size": world}
    try:
        ranks = [Grouped(groups, rank=rank, **options) for rank in range(world)]
    except ConfigError:
        largest = np.bincount(groups).max()
        assert batch_size < 2 * world * largest or len(set(groups.tolist())) < world
        return
    epochs = []
    for epoch in range(2):
        for order in ranks:
            order.set_epoch(epoch)
        parts = [list(order) for order in ranks]
        assert sorted(flat(flat(part) for part in parts)) == list(range(len(groups)))
        assert {len(part) for part in parts} == {len(ranks[0])}
        batches = flat(parts)
        assert all(batches)
        homes = [set(groups[batch].tolist()) for batch in batches]
        assert sum(map(len, homes)) == len(set(groups.tolist()))  # each group in one batch alone
        for step in zip(*parts, strict=True):
            assert len(flat(step)) <= batch_size
        epochs.append(parts)
    if not shuffle:
        assert epochs[0] == epochs[1]


def test_one_large_group_does_not_make_all_batches_small():
    groups = np.repeat(np.arange(2001), [5] * 2000 + [25])
    order = Grouped(groups, batch_size=64)
    sizes = [len(batch) for batch in order]
    assert max(sizes) <= 64 and sum(sizes) / len(sizes) > 35  # 10 where as many groups make a batch


def test_groups_are_drawn_anew_in_each_epoch_and_resumed_inside_one():
    order = Grouped(np.repeat(np.arange(40), 5), batch_size=20, seed=3)
    first = list(order)
    assert order.state() == {"examples": 200, "groups": 40, "batches": 10, "seed": 3}
    order.set_epoch(1)
    second = list(order)
    assert first != second
    order.start = 4
    assert list(order) == second[4:]
    order.set_epoch(0)
    assert list(order) == first


def test_a_group_that_fits_into_no_batch():
    with pytest.raises(ConfigError, match=r"the largest group has 5 examples, 10 will do"):
        Grouped([1] * 5 + [2] * 3, batch_size=8, world_size=2)


def test_a_family_chooses_its_order(cache_dir):
    class Stories(Toy):
        def training_order(self, part):
            return InOrder(len(part), batch_size=self.loader.batch_size, **self.ranks)

        def evaluation_order(self, part):
            return Grouped(np.arange(len(part)) // 5, batch_size=5, shuffle=False, **self.ranks)

    data = prepared(Stories(loader={"batch_size": 7}))
    assert flat(batch.index.tolist() for batch in data.train_dataloader()) == list(range(60))
    assert [batch.index.tolist() for batch in data.val_dataloader()] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
