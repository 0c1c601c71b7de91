"""The largest entries of long rows, ties settled."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zoo.decoding.beam import best


def slow(scores, count):
    """(value, column) of each row by Python's own sort."""
    return [sorted(enumerate(row), key=lambda entry: (-entry[1], entry[0]))[:count] for row in scores.tolist()]


def assert_best(scores, count):
    values, columns = best(scores, count)
    found = [list(zip(c, v, strict=True)) for c, v in zip(columns.tolist(), values.tolist(), strict=True)]
    assert found == slow(scores, count)


@pytest.mark.parametrize("entries", [1, 2, 9, 10, 11, 97, 1000, 5003, 20_000])
@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize("levels", [1, 2, 30, 10**9])
def test_equals_a_full_sort(entries, count, levels):
    """With few levels nearly all entries are equal to others."""
    generator = torch.Generator().manual_seed(entries + count)
    scores = torch.randint(levels, (3, entries), generator=generator).float()
    scores[torch.rand(3, entries, generator=generator) < 0.3] = -torch.inf
    assert_best(scores, count)


@settings(max_examples=100)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=400), st.integers(1, 6))
def test_equals_a_full_sort_whatever_the_rows(row, count):
    assert_best(torch.tensor([row, row[::-1]], dtype=torch.float64), count)


def test_a_row_of_the_worst_alone():
    values, columns = best(torch.full((2, 5000), -torch.inf), 3)
    assert (values == -torch.inf).all()
    assert columns.tolist() == [[0, 1, 2]] * 2
