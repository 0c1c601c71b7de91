"""Weights of the features that rank lists of candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

STEPS = 200
SHRINK = 1e-3
"""Penalty on the squared weights, for features in units of their standard deviation.

If one feature alone separates right from wrong in every list, the likelihood has no maximum without it.
"""


def fit_weights(features: NDArray[Any], real: NDArray[np.bool_], answer: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights (F,) of maximum likelihood under the softmax of (features @ weights) over the candidates of each list.

    `features` (Q, N, F), `real` (Q, N) True at candidates, `answer` (Q,) the index of the right candidate in its list.
    The function has one maximum, which L-BFGS finds from any start. The paper of the re-ranking uses K-best MIRA
    instead (Cherry and Foster 2012), which considers only the margin to the best wrong candidate.
    """
    values = features.astype(np.float64)
    spread = np.maximum(values[real].std(0), 1e-12)
    scaled = np.where(real[..., None], (values - values[real].mean(0)) / spread, 0.0)
    with torch.inference_mode(False), torch.enable_grad():
        weights = _likeliest(torch.from_numpy(scaled), torch.from_numpy(real), torch.from_numpy(answer))
    return weights.numpy() / spread


def _likeliest(scaled: Tensor, real: Tensor, answer: Tensor) -> Tensor:
    weights = torch.zeros(scaled.shape[-1], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=STEPS, tolerance_grad=1e-9, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        scores = (scaled @ weights).masked_fill(~real, -torch.inf)
        value = cross_entropy(scores, answer) + SHRINK * weights.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return weights.detach()
