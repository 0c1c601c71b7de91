"""Means by group, by hand."""

import torch

from zoo.metrics.groups import GroupMeans


def test_means_by_hand_over_batches():
    means = GroupMeans(3)
    means.update(torch.tensor([1.0, 2.0, 6.0]), torch.tensor([0, 2, 0]))
    means.update(torch.tensor([True, False]), torch.tensor([2, 2]))
    found = means.compute()
    torch.testing.assert_close(found, torch.tensor([3.5, torch.nan, 1.0]).double(), equal_nan=True)


def test_states_add_up():
    """As over ranks: the sums of totals and of counts, and not a mean of means."""
    one, two, both = GroupMeans(1), GroupMeans(1), GroupMeans(1)
    for metric, values in ((one, [1.0]), (two, [2.0, 6.0]), (both, [1.0, 2.0, 6.0])):
        metric.update(torch.tensor(values), torch.zeros(len(values), dtype=torch.long))
    assert (one.total + two.total) / (one.seen + two.seen) == both.compute() == 3
