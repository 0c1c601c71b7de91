"""Fine classes of sentiment as two."""

import torch

from zoo.metrics.polarity import PolarAccuracy

FINE = (-1, -1, 0, 1, 1)


def scores(*classes, of):
    return torch.nn.functional.one_hot(torch.tensor(classes), of).float()


def test_fine_classes_are_merged_as_corenlp_does():
    metric = PolarAccuracy(FINE)
    # right, right but for the strength, neutral in place of positive, the other side, and one that is truly neutral
    metric.update(scores(0, 0, 2, 1, 4, of=5), torch.tensor([0, 1, 3, 4, 2]))
    assert metric.compute() == 2 / 4
    undecided = PolarAccuracy(FINE)
    undecided.update(torch.tensor([[0.0, 0.1, 0.5, 0.4, 0.0]]), torch.tensor([3]))
    assert undecided.compute() == 0, "the likeliest class is neutral, which is wrong"


def test_one_side_of_several_classes_is_merged_too():
    metric = PolarAccuracy((-1, 0, 1, 1))
    metric.update(torch.tensor([[0.3, 0.4, 0.2, 0.1]] * 2), torch.tensor([0, 2]))
    assert metric.compute() == 0


def test_two_classes_are_compared_alone():
    metric = PolarAccuracy((-1, 0, 1))
    # neutral is likeliest, and positive before negative
    metric.update(torch.tensor([[0.1, 0.6, 0.3]] * 3), torch.tensor([2, 0, 1]))
    assert metric.compute() == 1 / 2


def test_counts_add_up_over_batches():
    metric = PolarAccuracy(FINE)
    for label in (0, 1, 3):
        metric.update(scores(0, of=5), torch.tensor([label]))
    metric.update(torch.zeros(0, 5), torch.zeros(0, dtype=torch.long))
    assert abs(metric.compute() - 2 / 3) < 1e-6


def test_nothing_with_a_polarity_is_no_number():
    metric = PolarAccuracy(FINE)
    metric.update(scores(2, of=5), torch.tensor([2]))
    assert metric.compute().isnan()
