"""Samples: an example depends on its number alone, a split on no other. And the facts that distinguish two sources."""

import os
import random
from functools import partial
from itertools import islice, permutations

import pytest

from tests.data.pairs.test_samples import GENERATORS as PAIRS
from zoo.data.cloze.samples import stories
from zoo.data.documents.imdb import generate_polar
from zoo.data.documents.samples import news, reviews
from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.data.sources import SPLITS, identity, sample_source
from zoo.data.trees.samples import relatedness, sentiment

SIZES = SampleOptions(train=5, val=2, test=3, seed=4)
TRAIN, VAL, TEST = [400, 401, 402, 403, 404], [405, 406], [407, 408, 409]
MADE = []


def numbers(count, *, seed, step=1):
    """100 * seed and the whole numbers after it."""
    for number in range(count):
        MADE.append(number)
        yield 100 * seed + step * number


class Numbers:
    def __call__(self, count, *, seed):
        return numbers(count, seed=seed)


def factory(step):
    def closure(count, *, seed):
        return numbers(count, seed=seed, step=step)

    def by_default(count, *, seed, step=step):
        return numbers(count, seed=seed, step=step)

    return closure, by_default


def read(source, split):
    return list(source.splits[split](BadRows()))


@pytest.mark.parametrize("order", list(permutations(SPLITS)))
def test_the_splits_of_a_sample_do_not_depend_on_the_order_of_reading(order):
    source = sample_source(numbers, SIZES, "numbers")
    for _ in range(2):
        assert {split: read(source, split) for split in order} == {"train": TRAIN, "val": VAL, "test": TEST}


def test_readers_that_are_read_at_the_same_time_or_given_up_leave_each_other_alone():
    source = sample_source(numbers, SIZES, "numbers")
    readers = [source.splits[split](BadRows()) for split in ("val", "train", "train")]
    assert list(zip(*readers, strict=False)) == [(405, 400, 400), (406, 401, 401)]
    assert list(islice(source.splits["train"](BadRows()), 3)) == [400, 401, 402]
    assert read(source, "val") == VAL
    assert read(source, "train") == TRAIN


def test_who_reads_split_after_split_has_no_example_made_twice():
    MADE.clear()
    source = sample_source(numbers, SIZES, "numbers")
    assert [read(source, split) for split in SPLITS] == [TRAIN, VAL, TEST]
    assert list(range(10)) == MADE


def test_what_a_generator_takes_is_part_of_the_identity():
    plain, two, three = (sample_source(numbers, SIZES, "numbers", **step) for step in ({}, {"step": 2}, {"step": 3}))
    assert read(two, "val") == [410, 412]
    assert read(three, "val") == [415, 418]
    assert two.identity == sample_source(numbers, SIZES, "numbers", step=2).identity
    identities = [plain.identity, two.identity, three.identity]
    assert all(one != other for one, other in permutations(identities, 2))
    assert set(plain.identity) == {"sample", "name", "train", "val", "test", "seed"}  # as before: caches stay


@pytest.mark.parametrize(
    "generate",
    [
        *factory(2),
        partial(numbers, step=2),
        lambda count, *, seed: numbers(count, seed=seed),
        Numbers(),
        Numbers().__call__,
        random.Random(1).sample,
    ],
)
def test_a_generator_that_may_hold_what_its_name_does_not_tell_is_refused(generate):
    with pytest.raises(TypeError, match=r"expected a function of a module, .*NAME=VALUE"):
        sample_source(generate, SIZES, "numbers")


@pytest.mark.parametrize("changed", ["corpus.py", "samples/words.py", "samples/words.toml"])
def test_another_generator_is_another_sample(tmp_path, changed):
    """A sample is identified by the code of its generator and by the word lists in its family's `samples`."""
    (tmp_path / "samples").mkdir()
    for name in ("words.py", "words.toml"):
        (tmp_path / "samples" / name).write_text("WORDS = 'good bad'\n")
    corpus = tmp_path / "corpus.py"
    corpus.write_text("def generate(count, *, seed):\n    return iter(())\n")
    module = {"__name__": "corpus"}
    exec(compile(corpus.read_text(), str(corpus), "exec"), module)

    def identity_of_sample():
        return sample_source(module["generate"], SampleOptions(), "reviews").identity

    before = identity_of_sample()
    assert identity_of_sample() == before
    with (tmp_path / changed).open("a") as file:
        file.write("# another\n")
    assert identity_of_sample() != before


def test_another_size_or_date_is_another_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one")
    os.utime(path, ns=(1, 1))
    first = identity(path)
    assert identity(path) == first
    path.write_text("three")
    os.utime(path, ns=(1, 1))
    longer = identity(path)
    os.utime(path, ns=(1, 2))
    assert len({str(one) for one in (first, longer, identity(path))}) == 3


GENERATORS = {
    "reviews": reviews.generate,
    "polar": generate_polar,
    "news": news.generate,
    "stories": stories.generate,
    "sentiment": sentiment.generate,
    "relatedness": relatedness.generate,
    **PAIRS,
}


@pytest.mark.parametrize("name", GENERATORS)
def test_an_example_depends_on_the_seed_and_its_number_alone(name):
    generate, state = GENERATORS[name], random.getstate()
    many = list(generate(60, seed=3))
    assert list(generate(20, seed=3)) == many[:20]
    rows, other = generate(60, seed=3), generate(60, seed=9)
    assert [(next(rows), next(other))[0] for _ in range(60)] == many  # two at once do not disturb each other
    others = list(islice(generate(60, seed=4), 60))
    assert sum(one == another for one, another in zip(many, others, strict=True)) < 5
    assert random.getstate() == state
