"""Streams: the example of a number is the same everywhere, none comes twice, and a resumed run sees what is left."""

import numpy as np
import pytest

from tests.data.bits.goals import stream
from tests.data.serving import served
from tests.data.test_training_order import Recorder, resumed, trainer
from zoo.data.bits.copy_bits import CopyBits
from zoo.data.streams import Endless
from zoo.errors import ConfigError

TRAIN, VAL, TEST = 20, 3, 5


def copies(seed=1, workers=0, **sample):
    """Sequences of 72 random bits: none is drawn twice by chance."""
    sizes = {"train": TRAIN, "val": VAL, "test": TEST, **sample}
    loader = {"batch_size": 6, "seed": seed, "workers": workers}
    return stream(CopyBits, length=9, test_lengths=[9], alike=False, sample=sizes, **loader)


def seen(data):
    """The sequences of the three splits."""
    splits = (served(data, split, "inputs") for split in ("train", "val", "test"))
    return [sorted(one.numpy().tobytes() for one in split) for split in splits]


def test_two_processes_with_two_workers_see_each_example_once_and_none_again(monkeypatch):
    numbers, part = [], copies().part("train")
    for epoch in range(3):
        for rank in range(2):
            monkeypatch.setattr(CopyBits, "ranks", {"rank": rank, "world_size": 2})
            loader = copies(workers=2).train_dataloader()
            loader.batch_sampler.set_epoch(epoch)
            for batch in loader:
                numbers += batch.index.tolist()
                for row, number in zip(batch.inputs, batch.index.tolist(), strict=True):
                    np.testing.assert_array_equal(row, part.make(part.seed, number).inputs)
        assert sorted(numbers) == list(range((epoch + 1) * TRAIN))


def test_the_splits_have_no_example_in_common():
    parts = seen(copies())
    assert [len(part) for part in parts] == [TRAIN, VAL, TEST]
    assert len({row for part in parts for row in part}) == TRAIN + VAL + TEST


def test_the_size_of_a_split_moves_no_other():
    few, many = seen(copies()), seen(copies(val=9, test=1))
    assert few[0] == many[0] and set(few[1]) < set(many[1]) and set(many[2]) < set(few[2])


def test_runs_with_other_seeds_see_other_examples_and_are_tested_on_the_same():
    one, two = seen(copies()), seen(copies(seed=2))
    assert not set(one[0]) & set(two[0]) and one[1:] == two[1:]


@pytest.mark.parametrize(("step", "workers"), [(2, 0), (6, 2), (8, 0)])
def test_a_resumed_run_sees_the_same_examples(tmp_path, step, workers):
    whole = Recorder()
    trainer(tmp_path).fit(whole, datamodule=copies())
    assert [number for *_, batch in whole.seen for number in batch] == list(range(3 * TRAIN))
    assert resumed(tmp_path, step, copies(), copies(workers=workers)) == whole.seen[step:]


def test_overfitting_sees_the_same_examples_every_epoch(tmp_path):
    module = Recorder()
    trainer(tmp_path, overfit_batches=2).fit(module, datamodule=copies())
    assert [batch for *_, batch in module.seen] == [list(range(5)), list(range(5, 10))] * 3


def test_a_stream_resumes_far_into_it_without_making_what_lies_behind():
    order = Endless(1000, batch_size=10)
    order.set_epoch(7)
    order.start = 99
    assert list(order) == [list(range(7990, 8000))]


def test_description_and_what_cannot_be():
    data = copies()
    assert data.source_description == "stream: sequences made without end, 20 an epoch, seed 4"
    assert data.sizes == {"train": 20, "val": 3, "test": 5}
    with pytest.raises(ConfigError, match=r"data\.loader\.max_tokens=50: the examples of a stream have no length"):
        CopyBits(loader={"max_tokens": 50})
    with pytest.raises(ConfigError, match=r"2 examples of an epoch cannot give each of 3 processes one"):
        Endless(2, batch_size=64, world_size=3)
