"""Accuracy that is not defined where nothing has a class."""

from __future__ import annotations

import torch
from torch import Tensor
from torchmetrics.classification import MulticlassAccuracy


class Accuracy(MulticlassAccuracy):
    """The share of right classes by torchmetrics, which gives 0 where there is no example; here that is NaN."""

    def __init__(self, classes: int) -> None:
        super().__init__(classes, average="micro")

    def compute(self) -> Tensor:
        """0 to 1; NaN without an example."""
        assert isinstance(self.tp, Tensor) and isinstance(self.fn, Tensor)
        share = super().compute()
        return share if bool((self.tp + self.fn).any()) else torch.full_like(share, torch.nan)
