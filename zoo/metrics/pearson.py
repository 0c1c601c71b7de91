"""Correlations of a whole split: Pearson's in double precision, since nearly equal scores have digits to lose, and
Spearman's where it is defined."""

from __future__ import annotations

import torch
from torch import Tensor
from torchmetrics import Metric, SpearmanCorrCoef
from torchmetrics.utilities.data import dim_zero_cat


class Pearson(Metric):
    """Pearson's correlation of predicted and true scores.

    The scores are kept until the end, so that it is the same over one rank and several. Sums in single precision, as
    torchmetrics has them, give the correlation of rounding errors where the mean is far larger than the differences.
    """

    full_state_update = False
    higher_is_better = True
    said: list[Tensor]
    true: list[Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.add_state("said", [], dist_reduce_fx="cat")
        self.add_state("true", [], dist_reduce_fx="cat")

    def update(self, said: Tensor, true: Tensor) -> None:
        """Two rows of scores (B,)."""
        self.said.append(said)
        self.true.append(true)

    def compute(self) -> Tensor:
        """-1 to 1; NaN where all scores of a row are equal, and without scores."""
        if not len(self.said):
            return torch.tensor(torch.nan, device=self.device)
        both = torch.stack([dim_zero_cat(row).cpu().double() for row in (self.said, self.true)])
        if _constant(both):
            return torch.tensor(torch.nan, device=self.device)
        x, y = both - both.mean(1, keepdim=True)
        return ((x @ y) / (x.norm() * y.norm())).float().to(self.device)


class Spearman(SpearmanCorrCoef):
    """Spearman's rank correlation by torchmetrics, which gives 0 where it is not defined; here that is NaN."""

    def compute(self) -> Tensor:
        """-1 to 1; NaN where all scores of a row are equal, and without scores."""
        if not len(self.preds) or _constant(torch.stack([dim_zero_cat(self.preds), dim_zero_cat(self.target)])):
            return torch.tensor(torch.nan, device=self.device)
        return super().compute()


def _constant(rows: Tensor) -> bool:
    """Whether one of some rows (R, N) has a single value only. Their differences from the mean may be rounding."""
    return bool((rows.amax(1) == rows.amin(1)).any())
