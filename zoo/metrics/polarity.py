"""Accuracy of positive and negative classes: the fine classes of sentiment reduced to two."""

from __future__ import annotations

import torch
from torch import Tensor
from torchmetrics import Metric


class PolarAccuracy(Metric):
    """The share of examples with the right polarity among those that have one; neutral ones do not count.

    If a polarity has several classes, they are merged as in Stanford CoreNLP: predicting neutral for an example that is
    not neutral is wrong. If each polarity has one class, only these two are compared, as in Tai et al. (2015).
    """

    full_state_update = False
    higher_is_better = True
    right: Tensor
    examples: Tensor

    def __init__(self, polarity: tuple[int, ...]) -> None:
        """`polarity` (C,) is -1, 0 or 1 for each class."""
        super().__init__()
        self.polarity = torch.tensor(polarity)
        self.merges = polarity.count(1) > 1 or polarity.count(-1) > 1
        self.add_state("right", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("examples", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, logits: Tensor, label: Tensor) -> None:
        """`logits` (B, C), `label` (B,) the true classes."""
        polarity = self.polarity.to(label.device)
        true = polarity[label]
        said = logits if self.merges else logits.masked_fill(polarity == 0, -torch.inf)
        counted = true != 0
        self.right += ((polarity[said.argmax(1)] == true) & counted).sum()
        self.examples += counted.sum()

    def compute(self) -> Tensor:
        """The share; NaN when no example had a polarity."""
        return self.right / self.examples
