"""Weights against those of scikit-learn where there are two candidates, and at the edges."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from zoo.reranking.weights import SHRINK, fit_weights


def test_with_two_candidates_it_is_logistic_regression_on_their_difference():
    draw = np.random.default_rng(0)
    features = draw.normal(size=(300, 2, 3)) * [1.0, 5.0, 0.1]
    difference = features[:, 1] - features[:, 0]
    answer = (draw.random(300) < 1 / (1 + np.exp(-difference @ [1.0, -0.3, 4.0]))).astype(int)
    found = fit_weights(features, np.ones((300, 2), bool), answer)
    spread = features.reshape(-1, 3).std(0)
    model = LogisticRegression(C=1 / (2 * SHRINK * 300), fit_intercept=False, tol=1e-10)
    expected = model.fit(difference / spread, answer).coef_[0]
    assert (found * spread).tolist() == pytest.approx(expected.tolist(), rel=1e-4, abs=1e-4)


def test_lists_may_be_of_any_length_and_hold_nothing_behind():
    draw = np.random.default_rng(1)
    features = draw.normal(size=(50, 4, 2))
    real = np.arange(4) < draw.integers(1, 5, (50, 1))
    answer = np.zeros(50, np.int64)
    scribbled = np.where(real[..., None], features, 1e9)
    assert fit_weights(scribbled, real, answer).tolist() == fit_weights(features, real, answer).tolist()


def test_a_feature_that_tells_all_is_finite_and_one_that_says_nothing_is_zero():
    features = np.zeros((20, 3, 2))
    features[:, 0, 0] = 1.0
    weights = fit_weights(features, np.ones((20, 3), bool), np.zeros(20, np.int64))
    assert np.isfinite(weights).all() and weights[0] > 1
    assert weights[1] == pytest.approx(0.0, abs=1e-6)


def test_it_fits_in_the_midst_of_a_test_too():
    features = np.random.default_rng(2).normal(size=(20, 3, 2))
    with torch.inference_mode():
        found = fit_weights(features, np.ones((20, 3), bool), np.zeros(20, np.int64))
    assert found.any()
