"""Correlations over a whole split: Pearson's in double precision, which nearly equal scores need, and Spearman's."""

import torch
from torch import Tensor
from torchmetrics import Metric, SpearmanCorrCoef
from torchmetrics.utilities.data import dim_zero_cat


class Pearson(Metric):
    """Pearson's correlation of predicted and true scores.

    All scores are stored, so that one rank and several give the same number. The sums in single precision of
    torchmetrics give the correlation of rounding errors if the mean is far larger than the differences.
    """

    full_state_update = False
    higher_is_better = True
    predicted: list[Tensor]
    true: list[Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.add_state("predicted", [], dist_reduce_fx="cat")
        self.add_state("true", [], dist_reduce_fx="cat")

    def update(self, predicted: Tensor, true: Tensor) -> None:
        """Predicted and true scores (B,)."""
        self.predicted.append(predicted)
        self.true.append(true)

    def compute(self) -> Tensor:
        """-1 to 1; NaN if all scores of one side are equal, and without scores."""
        if not len(self.predicted):
            return torch.tensor(torch.nan, device=self.device)
        both = torch.stack([dim_zero_cat(row).cpu().double() for row in (self.predicted, self.true)])
        if _constant(both):
            return torch.tensor(torch.nan, device=self.device)
        x, y = both - both.mean(1, keepdim=True)
        return ((x @ y) / (x.norm() * y.norm())).float().to(self.device)


class Spearman(SpearmanCorrCoef):
    """Spearman's rank correlation by torchmetrics, which gives 0 if it is not defined; here that is NaN."""

    def compute(self) -> Tensor:
        """-1 to 1; NaN if all scores of one side are equal, and without scores."""
        if not len(self.preds) or _constant(torch.stack([dim_zero_cat(self.preds), dim_zero_cat(self.target)])):
            return torch.tensor(torch.nan, device=self.device)
        return super().compute()


def _constant(rows: Tensor) -> bool:
    """Whether all values of one of the rows (R, N) are equal. Their differences from the mean may be rounding."""
    return bool((rows.amax(1) == rows.amin(1)).any())
