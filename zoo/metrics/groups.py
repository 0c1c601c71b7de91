"""Means of examples that are of several groups, such as sequences of several lengths."""

from __future__ import annotations

import torch
from torch import Tensor
from torchmetrics import Metric


class GroupMeans(Metric):
    """The mean of a number over the examples of each group; exact over batches and ranks."""

    full_state_update = False
    total: Tensor
    seen: Tensor

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.add_state("total", torch.zeros(groups, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("seen", torch.zeros(groups, dtype=torch.long), dist_reduce_fx="sum")

    def update(self, values: Tensor, group: Tensor) -> None:
        """`values` (B,) of examples, and the number of the group of each (B,)."""
        self.total.index_add_(0, group, values.detach().double())
        self.seen.index_add_(0, group, torch.ones_like(group))

    def compute(self) -> Tensor:
        """(G,), NaN for a group without an example; () where there is one group, as torchmetrics has it."""
        return self.total / self.seen
