"""Batches drawn with replacement: an epoch of whole batches, shared by processes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.stories.tiny import babi, official
from zoo.data.order import Bucketed
from zoo.data.stories.babi import Babi
from zoo.data.stories.module import WithReplacement
from zoo.errors import ConfigError


@settings(max_examples=100)
@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 4), st.integers(0, 5))
def test_an_epoch_is_whole_batches_that_the_processes_share(size, batch_size, world, epoch):
    try:
        ranks = [WithReplacement(size, batch_size=batch_size, rank=rank, world_size=world) for rank in range(world)]
    except ConfigError:
        assert min(size, batch_size) < world
        return
    one = WithReplacement(size, batch_size=batch_size)
    for order in (one, *ranks):
        order.set_epoch(epoch)
    parts, whole = [list(order) for order in ranks], list(one)
    assert len(whole) == len(one) == max(1, size // batch_size)
    for step, batch in enumerate(whole):
        assert len(batch) == min(batch_size, size) and 0 <= min(batch) <= max(batch) < size
        assert all(part[step] == batch[rank::world] and part[step] for rank, part in enumerate(parts))


def test_examples_come_again_as_often_as_chance_has_it():
    """A share of (1 - 1/n)^n, about 1/e, is never drawn in n draws from n examples."""
    drawn = np.concatenate(list(WithReplacement(32_000, batch_size=32)))
    assert len(drawn) == 32_000
    assert 1 - len(set(drawn.tolist())) / 32_000 == pytest.approx(np.exp(-1), abs=0.01)


def test_epochs_and_seeds_differ():
    def batches(seed=0, epoch=0, **options):
        order = WithReplacement(100, batch_size=10, seed=seed, **options)
        order.set_epoch(epoch)
        return list(order)

    assert batches() == batches() != batches(epoch=1) != batches(seed=1)
    assert batches(shuffle=False) == batches(shuffle=False, epoch=7)


def test_the_state_differs_from_that_of_other_batches():
    assert WithReplacement(100, batch_size=10).state() != WithReplacement(100, batch_size=10, seed=1).state()
    state, bucketed = WithReplacement(100, batch_size=10).state(), Bucketed(np.ones(100), batch_size=10).state()
    assert any(bucketed.get(key) != value for key, value in state.items())
    assert any(state.get(key) != value for key, value in bucketed.items())


def test_too_few_examples_for_all_processes():
    with pytest.raises(ConfigError, match="3 questions cannot give each of 4 processes one in every step"):
        WithReplacement(3, batch_size=64, world_size=4, nouns=Babi.nouns)


def test_the_key_chooses(tmp_path, cache_dir):
    folder = official(tmp_path / "en", train=40)
    loader = {"batch_size": 8, "seed": 5}
    once = babi(folder, loader=loader).train_dataloader()
    again = babi(folder, loader=loader, replacement=True).train_dataloader()
    seen = [number for batch in once for number in batch.index.tolist()]
    assert sorted(seen) == list(range(72)) and seen != sorted(seen)
    drawn = [batch.index.tolist() for batch in again]
    assert [len(batch) for batch in drawn] == [8] * 9
    assert drawn == list(WithReplacement(72, batch_size=8, seed=5))
