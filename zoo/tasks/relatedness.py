"""The relatedness of two sentences, on a scale of grades."""

import warnings
from typing import ClassVar

import torch
from torch import Tensor
from torchmetrics import MeanSquaredError, Metric

from zoo.data.trees.batch import TreePairBatch
from zoo.metrics.pearson import Pearson, Spearman
from zoo.models.output import Output
from zoo.precision import precise
from zoo.predicting.relatedness import RelatednessPredictions
from zoo.tasks.scoring import Scoring


class Relatedness(RelatednessPredictions, Scoring):
    """Any network whose `logits` (B, G) are scores of the grades of a `TreePairBatch`, trained by the divergence of its
    distribution over grades from the one that represents the true score (Tai et al. 2015, section 4.2). The predicted
    score is the mean grade."""

    headline: tuple[str, ...] = ("pearson", "spearman", "mse")
    monitors: ClassVar = {"loss": "min", "pearson": "max", "spearman": "max", "mse": "min"}
    on_bar: tuple[str, ...] = ("loss", "pearson")

    def metrics(self) -> dict[str, Metric]:
        """The metrics of a whole split, over all ranks."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the memory for all scores, which are few
            return {**super().metrics(), "pearson": Pearson(), "spearman": Spearman(), "mse": MeanSquaredError()}

    def total_loss(self, output: Output, batch: TreePairBatch) -> Tensor:
        assert batch.score is not None
        return divergences(output.logits, batch.score - self.spec.lowest).sum()

    def score(self, stage: str, batch: TreePairBatch, output: Output) -> None:
        for name in ("pearson", "spearman", "mse"):
            self.record(stage, name, self.scores(output.logits), batch.score)


def divergences(logits: Tensor, above: Tensor) -> Tensor:
    """(B,) KL(t || softmax of `logits`) of each pair, from `logits` (B, G) and the distance `above` (B,) of the score
    from the lowest grade. The target t is shared by the two grades next to the score, so that its mean is the score."""
    log_p = precise(logits).log_softmax(-1)
    below = above.floor().clamp(max=logits.shape[1] - 2)
    upper = (above - below).to(log_p)  # the share of the grade above
    at = below.long()[:, None]
    cross = (1 - upper) * log_p.gather(1, at)[:, 0] + upper * log_p.gather(1, at + 1)[:, 0]
    return torch.special.xlogy(1 - upper, 1 - upper) + torch.special.xlogy(upper, upper) - cross
