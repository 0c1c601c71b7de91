"""Orders: the same batches on any number of processes, nothing lost or doubled, similar lengths, streams in order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.pairs.toy import Toy
from tests.data.serving import batches, prepared
from zoo.data.order import Bucketed, Evaluation, InOrder, by_length
from zoo.data.pairs.module import PairData
from zoo.errors import ConfigError, DataError

LENGTHS = st.lists(st.integers(0, 60), min_size=1, max_size=300)
PAIR_LENGTHS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=200)


def flat(lists):
    return [number for part in lists for number in part]


def sampler(lengths, **options):
    """The sampler, None where it rightly refuses."""
    try:
        return Bucketed(lengths, **options)
    except ConfigError:
        return None


OPTIONS = {"batch_size": st.integers(1, 80), "seed": st.integers(0, 3), "epoch": st.integers(0, 3)}
OPTIONS |= {"shuffle": st.booleans(), "pool": st.sampled_from([1, 50])}


@settings(max_examples=150)
@given(LENGTHS, st.integers(1, 5), st.fixed_dictionaries(OPTIONS))
def test_the_slices_of_the_ranks_make_up_the_batches_of_one_process(lengths, world, options):
    batch_size = options["batch_size"]
    if sampler(lengths, world_size=world, **options) is None:
        assert len(lengths) < world or batch_size < 2 * world
        return
    whole = list(Bucketed(lengths, **options))
    ranks = [list(Bucketed(lengths, rank=rank, world_size=world, **options)) for rank in range(world)]
    assert {len(rank) for rank in ranks} == {len(whole)}
    for step, batch in enumerate(whole):
        slices = [rank[step] for rank in ranks]
        assert all(slices)
        assert max(map(len, slices)) - min(map(len, slices)) <= 1
        assert sorted(flat(slices)) == sorted(batch)
        assert len(batch) <= batch_size
    assert max(map(len, whole)) - min(map(len, whole)) <= 1
    assert sorted(flat(whole)) == list(range(len(lengths)))


@settings(max_examples=200)
@given(st.one_of(LENGTHS, PAIR_LENGTHS), st.integers(1, 700), st.integers(1, 4), st.integers(0, 3))
def test_batches_by_tokens(lengths, max_tokens, world, seed):
    """The tokens of pairs are those of both sides."""
    cost = np.maximum(lengths, 1).reshape(len(lengths), -1).sum(1)
    options = dict(max_tokens=max_tokens, seed=seed, world_size=world)
    first = sampler(lengths, **options)
    if first is None:
        assert len(lengths) < world or max_tokens < (2 * world + 1) * cost.max()
        return
    counts = set()
    for epoch in range(3):
        ranks = [list(Bucketed(lengths, rank=rank, epoch=epoch, **options)) for rank in range(world)]
        for slices in zip(*ranks, strict=True):
            assert all(slices)
            assert cost[flat(slices)].sum() <= max_tokens
        assert sorted([n for rank in ranks for part in rank for n in part]) == list(range(len(lengths)))
        counts.add(len(ranks[0]))
    assert counts == {len(first)}  # Lightning asks for the length once, in the first epoch


def test_batches_of_a_pool_of_one_are_draws_from_all_examples():
    """The mean of 64 lengths then varies by an eighth of what one length does; bucketed, nearly as one does."""
    lengths = np.random.default_rng(0).integers(1, 100, 64_000)

    def spread(pool):
        batches = Bucketed(lengths, batch_size=64, pool=pool).global_batches()
        return np.std([lengths[batch].mean() for batch in batches]) / lengths.std()

    assert spread(1) == pytest.approx(1 / 8, rel=0.1)
    assert spread(50) > 0.95


def test_tokens_are_shared_out_evenly():
    lengths = np.random.default_rng(0).integers(1, 400, 5000)
    words = [lengths[batch].sum() for batch in Bucketed(lengths, max_tokens=8000).global_batches()]
    assert max(words) <= 8000
    assert min(words) > 8000 - 3 * 400


def test_batches_are_mixed_within_an_epoch_and_differ_between_epochs():
    lengths = np.random.default_rng(0).integers(1, 100, 6400)

    def epoch(number, **options):
        order = Bucketed(lengths, batch_size=64, **options)
        order.set_epoch(number)
        return list(order)

    first = epoch(0)
    means = np.array([lengths[batch].mean() for batch in first])
    assert abs(np.corrcoef(np.arange(len(means)), means)[0, 1]) < 0.3  # not from short to long
    assert not set(map(frozenset, first)) & set(map(frozenset, epoch(1)))
    assert epoch(0) == first != epoch(0, seed=1)
    assert epoch(3, shuffle=False) == epoch(0, shuffle=False)


@pytest.mark.parametrize("options", [{"batch_size": 8}, {"max_tokens": 400}])
def test_start_leaves_out_what_was_seen_in_that_epoch_only(options):
    lengths = np.random.default_rng(0).integers(1, 50, 200)
    whole = Bucketed(lengths, epoch=4, **options)
    seen = list(whole)
    resumed = Bucketed(lengths, epoch=4, start=3, **options)
    assert len(resumed) == len(whole)
    resumed.set_epoch(4)
    assert list(resumed) == seen[3:]
    resumed.set_epoch(5)
    whole.set_epoch(5)
    assert list(resumed) == list(whole)


@pytest.mark.parametrize("order", [Bucketed, lambda lengths, **options: InOrder(len(lengths), **options)])
@pytest.mark.parametrize(
    ("batch_size", "world_size", "reason"),
    [(2, 3, r"data\.loader\.batch_size=2 is too small"), (64, 11, "there are too few")],
)
def test_what_cannot_be_shared_is_refused(order, batch_size, world_size, reason):
    message = rf"10 examples cannot give each of {world_size} processes one in every step; {reason}"
    with pytest.raises(ConfigError, match=message):
        order(range(10), batch_size=batch_size, world_size=world_size)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 12}, r"data\.loader\.max_tokens=12 is too small: the longest has 9 tokens; set 27 or more"),
        ({"max_tokens": 30, "world_size": 4}, r"the longest has 9 tokens; set 81 or more"),
        ({"max_tokens": 5, "nouns": PairData.nouns}, r"^10 pairs .* is too small"),
    ],
)
def test_too_few_tokens_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Bucketed(range(10), **options)
    enough = 9 * (2 * options.get("world_size", 1) + 1)
    assert len(Bucketed(range(10), **options | {"max_tokens": enough})) > 0


@pytest.mark.parametrize("options", [{}, {"batch_size": 2, "max_tokens": 100}])
def test_one_limit_is_given(options):
    for order in (Bucketed, Evaluation):
        with pytest.raises(ValueError, match="set one of them"):
            order(range(10), **options)


# evaluation


@settings(max_examples=150)
@given(st.one_of(LENGTHS, PAIR_LENGTHS), st.integers(1, 5), st.sampled_from(["batch_size", "max_tokens"]), st.data())
def test_evaluation_sees_each_document_once(lengths, world, key, draw):
    limit = {key: draw.draw(st.integers(1, 70 if key == "batch_size" else 500))}
    if len(lengths) < world:
        with pytest.raises(DataError, match=rf"^{len(lengths)} pairs cannot be shared by {world} processes"):
            Evaluation(lengths, world_size=world, nouns=PairData.nouns, **limit)
        return
    ranks = [Evaluation(lengths, rank=rank, world_size=world, **limit) for rank in range(world)]
    every = [batch for rank in ranks for batch in rank]
    assert sorted(flat(every)) == list(range(len(lengths)))
    assert all(every)
    assert [len(rank) for rank in ranks] == [len(list(rank)) for rank in ranks]
    for batch in every:
        if key == "batch_size":
            assert len(batch) <= max(1, limit[key] // world)
        else:
            assert len(batch) == 1 or np.maximum(lengths, 1)[batch].sum() <= limit[key] // world


def test_evaluation_is_the_same_every_time_and_shows_long_and_short():
    lengths = np.arange(1, 1001)
    batches = list(Evaluation(lengths, batch_size=10))
    assert batches == list(Evaluation(lengths, batch_size=10))
    assert len({int(lengths[batch].mean()) // 250 for batch in batches[:8]}) >= 3


# pairs


def test_pairs_of_a_batch_are_of_similar_length_on_both_sides():
    draw = np.random.default_rng(0)
    target = draw.integers(4, 40, 20_000)
    lengths = np.stack([np.maximum(target + draw.integers(-5, 6, 20_000), 1), target], 1)

    def real(batches, side):
        return lengths[:, side].sum() / sum(len(batch) * lengths[batch, side].max() for batch in batches)

    for options in ({"batch_size": 64}, {"max_tokens": 2500}):
        batches = Bucketed(lengths, **options).global_batches()
        assert real(batches, 0) > 0.85
        assert real(batches, 1) > 0.95
        random = np.array_split(draw.permutation(len(lengths)), len(batches))
        assert max(real(random, 0), real(random, 1)) < 0.7


def test_by_length_by_hand():
    """By target; among equal targets by source, up and down alternately."""
    pairs = np.array([[3, 2], [1, 2], [9, 1], [5, 3], [7, 3], [4, 1], [2, 2]])
    assert pairs[by_length(pairs)].tolist() == [[9, 1], [4, 1], [1, 2], [2, 2], [3, 2], [7, 3], [5, 3]]
    assert by_length(np.array([[3], [1], [3], [2]])).tolist() == [1, 3, 0, 2]


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


def test_a_stream_is_read_in_order_in_training_and_evaluation(cache_dir):
    """`continues` alone decides it: a family that overrides one of the orders does not validate in another one."""

    class Stream(Toy):
        continues = True

        def training_order(self, part):
            raise AssertionError("not asked")

    data = prepared(Stream(loader={"batch_size": 7}))
    read = {split: [batch.index.tolist() for batch in batches(data, split)] for split in ("train", "val")}
    assert read == {"train": [list(range(at, 60, 9)) for at in range(9)], "val": [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]}
    data = prepared(Stream(loader={"batch_size": 7, "max_tokens": 100}))
    with pytest.raises(ConfigError, match=r"data.loader.max_tokens=100: toy is read in order"):
        data.train_dataloader()


def test_a_family_chooses_its_order(cache_dir):
    class Stories(Toy):
        def training_order(self, part):
            return InOrder(len(part), batch_size=self.loader.batch_size, **self.ranks)

    data = prepared(Stories(loader={"batch_size": 60}))
    assert flat(batch.index.tolist() for batch in data.train_dataloader()) == list(range(60))
