"""The figures of each class, calibration and the best threshold, by hand and against scikit-learn and torchmetrics."""

import numpy as np
import pytest
import torch
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support
from torchmetrics.functional.classification import multiclass_calibration_error

from zoo.metrics.classes import BestThreshold, Reliability, by_class, calibration_error


def test_the_figures_of_each_class_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(0, 4, 50), rng.integers(1, 4, 50)  # 0 is never predicted, 4 does not occur
    expected = precision_recall_fscore_support(truth, guess, labels=range(5), zero_division=0)
    found = by_class(torch.from_numpy(confusion_matrix(truth, guess, labels=range(5))))
    assert list(found) == ["precision", "recall", "f1", "support"]
    for column, values in zip(expected, found.values(), strict=True):
        np.testing.assert_allclose(values, column)


def reliability(confidences, right):
    """The bins of examples of two classes. The first one is the likeliest."""
    metric, first = Reliability(), torch.tensor(confidences)
    metric.update(torch.stack([first, 1 - first], 1), torch.tensor([int(not one) for one in right]))
    return metric.compute()


def test_the_calibration_error_by_hand():
    bins = reliability([0.55, 0.58, 0.95, 0.98, 1.0], [True, True, False, True, True])
    # 2 right where 0.55 + 0.58 are expected, and 2 right where 0.95 + 0.98 + 1 are: (0.87 + 0.93) / 5
    assert calibration_error(bins).item() == pytest.approx(0.36)
    assert bins[0].tolist() == [0] * 8 + [2] + [0] * 5 + [3]
    assert calibration_error(Reliability().bins).isnan()


def test_a_bin_includes_its_upper_end():
    bins = reliability([0.6, 0.61], [True, True])  # 9/15 and more
    assert bins[0].nonzero().flatten().tolist() == [8, 9]


def test_the_calibration_error_is_that_of_torchmetrics():
    draw = torch.Generator().manual_seed(0)
    probabilities = (2 * torch.randn(500, 4, generator=draw)).softmax(1)
    label = torch.randint(0, 4, (500,), generator=draw)
    metric = Reliability()
    metric.update(probabilities, label)
    expected = multiclass_calibration_error(probabilities, label, 4, n_bins=15)
    assert calibration_error(metric.compute()).item() == pytest.approx(expected.item(), abs=1e-6)


def best(probability, label):
    metric = BestThreshold()
    metric.update(torch.tensor(probability), torch.tensor(label))
    return metric.compute().item()


def test_no_threshold_has_a_better_f1():
    rng = np.random.default_rng(1)
    label = (rng.random(200) < 0.1).astype(int)
    probability = np.clip(rng.normal(0.2 + 0.3 * label, 0.15), 0, 1).round(3)
    scores = {step: f1_score(label, probability >= step / 1000) for step in range(1, 1000)}
    found = best(probability, label)
    assert found < 0.5 and scores[round(1000 * found)] == pytest.approx(max(scores.values()))


@pytest.mark.parametrize(
    ("probability", "label", "threshold"),
    [
        ([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1], 0.3),  # from 0.201 to 0.3
        ([0.5, 0.625, 0.75], [0, 0, 1], 0.626),
        ([0.3, 0.8], [0, 1], 0.5),
        ([0.0, 1.0], [1, 0], 0.5),  # 0.001 at the least finds none: F1 is 0 everywhere
        ([0.2, 0.3], [0, 0], 0.5),
    ],
)
def test_of_equal_thresholds_the_nearest_to_one_half(probability, label, threshold):
    assert best(probability, label) == threshold
