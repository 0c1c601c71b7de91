"""Classification beyond the share of right answers: the figures of each class, calibration, the best threshold."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torchmetrics import Metric


def by_class(confusion: ArrayLike) -> dict[str, NDArray[Any]]:
    """Return `precision`, `recall`, `f1` and `support`, the number of examples, of each class (C,).

    `confusion` (C, C) counts examples by true class (row) and predicted class (column). A share of nothing is 0.
    """
    counts = np.asarray(confusion)
    right, true, predicted = counts.diagonal(), counts.sum(1), counts.sum(0)
    shares = {"precision": (right, predicted), "recall": (right, true), "f1": (2 * right, true + predicted)}
    return {name: part / np.maximum(whole, 1) for name, (part, whole) in shares.items()} | {"support": true}


class Reliability(Metric):
    """Confidence and accuracy in bins of equal width, by the probability of the likeliest class.

    Guo et al. 2017, On Calibration of Modern Neural Networks, section 2: bin m of M holds the probabilities above
    (m - 1) / M and up to m / M.
    """

    full_state_update = False
    higher_is_better = None
    bins: Tensor

    def __init__(self, bins: int = 15) -> None:
        super().__init__()
        self.add_state("bins", torch.zeros(3, bins, dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, probabilities: Tensor, label: Tensor) -> None:
        """Count examples with `probabilities` (B, C) and the true classes `label` (B,)."""
        confidence, likeliest = probabilities.detach().max(1)
        place = (confidence * self.bins.shape[1]).ceil().long().clamp(1, self.bins.shape[1]) - 1
        rows = torch.stack([torch.ones_like(confidence), confidence, likeliest == label])
        self.bins.index_add_(1, place, rows.double())

    def compute(self) -> Tensor:
        """(3, M) of each bin: the number of examples, the sum of their confidences, and how many are right."""
        return self.bins


def calibration_error(bins: Tensor) -> Tensor:
    """Return the expected calibration error (ECE, Guo et al. 2017, equation 3) for the result of a `Reliability`: the
    mean over examples of |accuracy - confidence| of their bin. NaN without examples."""
    count, confidence, right = bins
    return (right - confidence).abs().sum() / count.sum()


class BestThreshold(Metric):
    """The threshold with the best F1 of the second of two classes, among 1 / `steps`, 2 / `steps`, ... below 1.

    Of equally good ones it is the nearest to 0.5. It is 0.5 if no threshold finds an example of the second class.
    """

    full_state_update = False
    higher_is_better = None
    counts: Tensor

    def __init__(self, steps: int = 1000) -> None:
        super().__init__()
        self.steps = steps
        self.add_state("counts", torch.zeros(2, steps + 1, dtype=torch.long), dist_reduce_fx="sum")

    def update(self, probability: Tensor, label: Tensor) -> None:
        """Count examples by the `probability` (B,) of the second class and the true classes `label` (B,)."""
        place = (probability.detach().double() * self.steps).floor().long().clamp(0, self.steps)  # NaN is at 0
        self.counts.view(-1).index_add_(0, label * (self.steps + 1) + place, torch.ones_like(label))

    def compute(self) -> Tensor:
        """The threshold ()."""
        wrong, right = self.counts.flip(1).cumsum(1).flip(1)  # predicted as the second class from each threshold on
        f1 = 2 * right / (right + wrong + right[0]).clamp(min=1)
        thresholds = torch.arange(self.steps + 1, dtype=torch.float64, device=f1.device) / self.steps
        best = thresholds[1:-1][f1[1:-1] == f1[1:-1].max()]
        return best[(best - 0.5).abs().argmin()]
