"""Pearson's correlation against scipy's, also for scores that single precision cannot hold."""

import numpy as np
import pytest
import torch
from scipy import stats

from zoo.metrics.pearson import Pearson


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-6])
def test_is_scipys_whatever_the_batches(spread):
    draw = np.random.default_rng(0)
    true = draw.uniform(1, 5, 100).round(1).astype(np.float32)
    guess = (3.2 + spread * (true + draw.normal(0, 1, 100))).astype(np.float32)
    metric = Pearson()
    for part in np.split(np.arange(100), [1, 30, 77]):
        metric.update(torch.tensor(guess[part]), torch.tensor(true[part]))
    expected = stats.pearsonr(guess.astype(float), true.astype(float)).statistic
    assert metric.compute().item() == pytest.approx(expected, abs=1e-7)
