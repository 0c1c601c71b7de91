"""Shares of what is right: statements that are true, and words at which attention points where it should."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torchmetrics import Metric


class TrueShare(Metric):
    """The share of statements that are true, 0 to 1; exact over batches and ranks."""

    full_state_update = False
    higher_is_better = True
    true: Tensor
    statements: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("true", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("statements", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, statements: Sequence[bool] | Tensor) -> None:
        """(N,) whether each is true."""
        told = torch.as_tensor(statements, dtype=torch.bool, device=self.true.device)
        self.true += told.sum()
        self.statements += told.numel()

    def compute(self) -> Tensor:
        """The share; NaN without a statement."""
        return self.true / self.statements


class PointingGame(Metric):
    """The share of examples whose largest weight lies on a true position, 0 to 1 (Zhang et al. 2016); exact over
    batches and ranks.

    Examples without a true position do not count. Where several weights are the largest an example counts by the share
    of them that are true, what a choice among them by lot would give in the mean. So uniform weights score what a
    position drawn at random does, the mean share of true positions, and that is their `AttentionRecall`, too.

    Jianming Zhang, Zhe Lin, Jonathan Brandt, Xiaohui Shen, Stan Sclaroff. Top-down Neural Attention by Excitation
    Backprop. ECCV 2016. https://arxiv.org/abs/1608.00507
    """

    full_state_update = False
    higher_is_better = True
    hits: Tensor
    examples: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("hits", torch.tensor(0.0, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("examples", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, weights: Tensor, evidence: Tensor) -> None:
        """`weights` (B, ...) of each example; `evidence` (B, ...) True at the true positions."""
        if weights.shape != evidence.shape:
            raise ValueError(f"weights {tuple(weights.shape)} and evidence {tuple(evidence.shape)} differ in shape")
        true = evidence.flatten(1)
        counted = true.any(1)
        looked, true = weights.flatten(1)[counted], true[counted]
        if len(looked):
            largest = looked == looked.amax(1, keepdim=True)
            self.hits += ((largest & true).sum(1).double() / largest.sum(1)).sum()
            self.examples += len(looked)

    def compute(self) -> Tensor:
        """The share; NaN when no example had a true position."""
        return self.hits / self.examples
