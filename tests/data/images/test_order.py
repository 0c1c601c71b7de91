"""The captions that share a batch."""

from itertools import chain

import numpy as np
import pytest

from zoo.data.captions.order import LengthOrder, PictureOrder
from zoo.data.order import Bucketed, InOrder
from zoo.errors import ConfigError

CAPTIONS = np.random.default_rng(0).integers(1, 7, 50)
"""The numbers of captions of 50 pictures, 1 to 6 each."""
SIZE = int(CAPTIONS.sum())
IMAGE_OF = np.repeat(np.arange(50), CAPTIONS)


def by_picture(each, batch_size=8, rank=0, world_size=1, seed=0):
    ranks = {"rank": rank, "world_size": world_size}
    pictures = Bucketed(np.ones(50), batch_size=batch_size, pool=1, seed=seed, **ranks)
    return PictureOrder(pictures, CAPTIONS, each=each, seed=seed)


def epoch_of(order, epoch):
    """The batches of an epoch, in order."""
    order.set_epoch(epoch)
    return list(order)


# Captions of pictures


def test_captions_are_drawn_in_each_epoch_and_equally_often():
    order = by_picture(2)
    drawn = [sorted(number % SIZE for batch in epoch_of(order, epoch) for number in batch) for epoch in range(300)]
    assert drawn[0] != drawn[1]
    times = np.bincount(np.concatenate(drawn), minlength=SIZE) / 300
    expected = np.minimum(1, 2 / CAPTIONS[IMAGE_OF])
    assert np.abs(times - expected).max() < 5 * np.sqrt(0.25 / 300)


def test_an_epoch_follows_from_the_seed_and_its_number_alone():
    first, second = by_picture(2), by_picture(2)
    expected = epoch_of(first, 3)
    images, later = ([set(IMAGE_OF[np.array(batch) % SIZE]) for batch in epoch_of(second, e)] for e in (3, 0))
    assert not any(batch in images for batch in later)  # other pictures share a batch
    assert epoch_of(second, 3) == expected
    assert epoch_of(by_picture(2, seed=1), 3) != expected
    shares = [epoch_of(by_picture(2, rank=rank, world_size=3), 3) for rank in range(3)]
    steps = [sorted(chain.from_iterable(step)) for step in zip(*shares, strict=True)]
    assert steps == [sorted(batch) for batch in expected]  # the captions of a step, for any number of processes


def test_without_shuffle_every_epoch_is_the_first():
    pictures = Bucketed(np.ones(50), batch_size=8, pool=1, shuffle=False)
    order = PictureOrder(pictures, CAPTIONS, each=2, shuffle=False)
    first, later = epoch_of(order, 0), epoch_of(order, 2)
    assert later == [[number + 2 * SIZE for number in batch] for batch in first]


def test_the_first_rows_of_a_batch_are_of_different_pictures():
    for batch in epoch_of(PictureOrder(InOrder(50, batch_size=8), CAPTIONS), 0):
        images = IMAGE_OF[batch].tolist()
        pictures = len(set(images))
        assert batch[:pictures] == [int(np.flatnonzero(image == IMAGE_OF)[0]) for image in images[:pictures]]


def test_the_state_has_all_that_an_epoch_depends_on():
    orders = [by_picture(2), by_picture(3), by_picture(2, seed=1), by_picture(2, batch_size=9)]
    assert len({tuple(sorted(order.state().items(), key=str)) for order in orders}) == 4


# One length

LENGTHS = np.random.default_rng(1).integers(5, 12, 400)


@pytest.mark.parametrize("world", [1, 4])
@pytest.mark.parametrize("limit", [{"batch_size": 16}, {"max_tokens": 160}])
def test_captions_of_one_length_each_once(world, limit):
    orders = [LengthOrder(LENGTHS, **limit, rank=rank, world_size=world) for rank in range(world)]
    expected = 0
    for length in range(5, 12):
        expected += -(-int((length == LENGTHS).sum()) // limit.get("batch_size", 160 // length))
    epochs = []
    for epoch in (0, 1):
        parts, seen = [epoch_of(order, epoch) for order in orders], []
        assert {len(part) for part in parts} == {len(orders[0])} == {expected}
        for shares in zip(*parts, strict=True):
            whole = [number - epoch * 400 for share in shares for number in share]
            lengths = LENGTHS[whole]
            assert len(set(lengths.tolist())) == 1
            assert len(whole) <= limit.get("batch_size", 1000) and lengths.sum() <= limit.get("max_tokens", 1000)
            assert 1 <= min(map(len, shares)) >= max(map(len, shares)) - 1
            seen += whole
        assert sorted(seen) == list(range(400))
        epochs.append(seen)
    assert epochs[0] != epochs[1]


def test_lengths_come_mixed():
    order = LengthOrder(LENGTHS, batch_size=16)
    whole = epoch_of(order, 2)
    lengths = [int(LENGTHS[batch[0] % 400]) for batch in whole]
    assert lengths != sorted(lengths)
    fixed = LengthOrder(LENGTHS, batch_size=16, shuffle=False)
    assert epoch_of(fixed, 1) == [[n + 400 for n in batch] for batch in epoch_of(fixed, 0)]


def test_rare_lengths_are_joined_with_their_neighbours_if_processes_would_have_none():
    lengths = np.array([3, 4, 4, 4, 4, 5, 9, 9, 9, 30])
    alone = [sorted(lengths[batch].tolist()) for batch in LengthOrder(lengths, batch_size=4)]
    assert sorted(alone) == [[3], [4] * 4, [5], [9] * 3, [30]]
    orders = [LengthOrder(lengths, batch_size=4, rank=rank, world_size=2) for rank in range(2)]
    shared = [sorted(lengths[[*one, *other]].tolist()) for one, other in zip(*orders, strict=True)]
    # 3 is joined with 4 (five captions: two batches), 5 with 9, and 30 with these
    assert sorted(chain.from_iterable(shared)) == lengths.tolist()
    assert all(set(batch) <= {3, 4} or set(batch) <= {5, 9, 30} for batch in shared)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 1, "world_size": 2}, r"captions of 5 tokens cannot .*data\.loader\.batch_size=1 is too small"),
        ({"max_tokens": 4}, r"data\.loader\.max_tokens=4 is too small; set 22 or more"),
        ({"max_tokens": 10, "world_size": 4}, r"data\.loader\.max_tokens=10 is too small; set 88 or more"),
        ({"batch_size": 16, "world_size": 500}, r"400 captions of 11 tokens cannot give each of 500 processes"),
    ],
)
def test_too_few_for_all_processes(options, message):
    with pytest.raises(ConfigError, match=message):
        LengthOrder(LENGTHS, **options)
