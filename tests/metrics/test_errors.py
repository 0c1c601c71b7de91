"""Edits per letter and per word, with numbers worked by hand."""

import pytest
import torch

from zoo.metrics.errors import ErrorRate


def rate(unit, *pairs):
    metric = ErrorRate(unit)
    for written, reference in pairs:
        metric.update([written], [reference])
    return metric


def test_edits_are_counted_per_unit_of_the_reference():
    assert rate("characters", ("sitting", "kitten")).compute() == 3 / 6  # k to s, e to i, and g
    assert rate("words", ("the cat sat", "the cat sat down")).compute() == 1 / 4
    assert rate("words", ("a b c d", "x")).compute() == 4  # one substitution and three insertions
    assert rate("characters", ("ab", "a b")).compute() == 1 / 3  # white space counts


def test_nothing_written_and_nothing_to_write():
    assert rate("words", ("", "one two")).compute() == 1
    assert rate("words", ("one", ""), ("two", "two")).compute() == 1  # an insertion, over one word
    assert rate("characters", ("", "")).compute().isnan()


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_batches_are_added_up_before_the_division(unit):
    written, references = ["a b", "seven", "", "x y z"], ["a c", "eleven", "none", "x z"]
    whole = ErrorRate(unit)
    whole.update(written, references)
    apart = rate(unit, *zip(written, references, strict=True))
    assert torch.equal(apart.total, whole.total) and torch.equal(apart.count, whole.count)
    assert whole.total.dtype == torch.long
