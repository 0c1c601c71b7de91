"""Parity and addition: targets by Python's own arithmetic, lengths, links, and the data modules."""

from collections import Counter

import pytest

from tests.data.serving import prepared, served
from zoo.data.pairs.arithmetic import Addition, Parity
from zoo.data.pairs.samples import arithmetic
from zoo.errors import ConfigError

SIZES = {"train": 60, "val": 5, "test": 20}


def test_parity_depends_on_every_bit():
    pairs = list(arithmetic.parity(3000, seed=0, shortest=2, longest=9))
    lengths = Counter(len(pair.source) for pair in pairs)
    assert sorted(lengths) == list(range(2, 10)) and min(lengths.values()) > 300
    for pair in pairs:
        assert pair.target == ["odd" if int("".join(pair.source), 2).bit_count() % 2 else "even"]
        assert pair.alignment == [(place, 0) for place in range(len(pair.source))]
    assert 0.45 < sum(pair.target == ["odd"] for pair in pairs) / len(pairs) < 0.55


def test_sums_are_right_and_have_no_leading_zeros():
    pairs = list(arithmetic.addition(3000, seed=0, digits=4))
    lengths = Counter()
    for pair in pairs:
        numbers = "".join(pair.source).split("+")
        assert "".join(pair.target) == str(sum(map(int, numbers)))
        assert all(number == str(int(number)) for number in numbers)
        lengths.update(len(number) for number in numbers)
    assert sorted(lengths) == [1, 2, 3, 4] and min(lengths.values()) > 1300
    assert Counter(len(n) for pair in arithmetic.addition(50, seed=0, shortest=15, digits=15)
                   for n in "".join(pair.source).split("+")) == {15: 100}  # fmt: skip


def test_links_of_a_sum_are_those_of_its_place_and_of_lower_ones():
    """12 + 9 = 21: the 1 comes from the units, the 2 from all digits."""
    pair = next(p for p in arithmetic.addition(20_000, seed=0, digits=2) if p.source == ["1", "2", "+", "9"])
    assert pair.target == ["2", "1"]
    assert pair.alignment == [(0, 0), (1, 0), (1, 1), (3, 0), (3, 1)]


def test_a_pair_depends_on_its_number_and_the_seed_alone():
    for generate in (arithmetic.parity, arithmetic.addition):
        first, more, other = list(generate(5, seed=1)), list(generate(9, seed=1)), list(generate(5, seed=2))
        assert first == more[:5] and first != other


@pytest.mark.parametrize("data", [Parity(longest=6, sample=SIZES), Addition(digits=3, sample=SIZES)])
def test_data_are_served_with_one_vocabulary(cache_dir, data):
    data = prepared(data)
    assert data.spec.shared
    assert not any("does not cut" in note for note in data.describe()["notes"])
    for source, target, ids in served(data, "test", "source_text", "target_text", "target"):
        words = source.split()
        if isinstance(data, Parity):
            assert target == arithmetic.NAMES[words.count("1") % 2]
        else:
            assert target.replace(" ", "") == str(sum(map(int, source.replace(" ", "").split("+"))))
        assert data.encoder.text(ids) == target


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Parity(longest=0), "data.longest"),
        (lambda: Addition(digits=-1), "data.digits"),
        (lambda: Parity(shortest=5, longest=4), "data.shortest=5: it is more than data.longest=4"),
        (lambda: Addition(shortest=3, digits=2), "set data.shortest=2 or less"),
    ],
)
def test_impossible_lengths_are_refused(build, message):
    with pytest.raises(ConfigError, match=message):
        build()
