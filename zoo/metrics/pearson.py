"""Pearson's correlation of a whole split, in double precision: scores that are nearly equal have digits to lose."""

from __future__ import annotations

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat


class Pearson(Metric):
    """The correlation of two rows of numbers, which are kept until it is asked for: the same over one rank and several,
    and for means far from the differences, where sums in single precision, such as torchmetrics has them, give the
    correlation of their rounding. NaN where all numbers of a row are the same, or there is none."""

    full_state_update = False
    higher_is_better = True
    said: list[Tensor]
    true: list[Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.add_state("said", [], dist_reduce_fx="cat")
        self.add_state("true", [], dist_reduce_fx="cat")

    def update(self, said: Tensor, true: Tensor) -> None:
        """Two rows (B,)."""
        self.said.append(said)
        self.true.append(true)

    def compute(self) -> Tensor:
        """-1 to 1."""
        if not len(self.said):
            return torch.tensor(torch.nan, device=self.device)
        both = torch.stack([dim_zero_cat(row).cpu().double() for row in (self.said, self.true)])
        x, y = both - both.mean(1, keepdim=True)
        return ((x @ y) / (x.norm() * y.norm())).float().to(self.device)
