"""The relatedness of two sentences, on a scale of grades."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torchmetrics import MeanSquaredError, Metric

from zoo.data.trees.batch import TreePairBatch, TreePairSpec, Trees
from zoo.metrics.pearson import Pearson, Spearman
from zoo.models.output import Output
from zoo.precision import precise
from zoo.tasks.scoring import Scoring
from zoo.tasks.task import Examined, Prediction
from zoo.tasks.trees import ReadTree, read_trees


@dataclass(frozen=True)
class RelatednessPrediction(Prediction):
    """The score of two sentences, and what the network attended to."""

    score: float  # The mean grade
    probabilities: dict[str, float]  # The probability of each grade
    first: ReadTree
    second: ReadTree
    similarity: tuple[tuple[float, ...], ...] | None = None
    """Cosine of the states of each node of the first tree and each node of the second; None where the network has no
    states of nodes."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`, without the similarities of nodes."""
        return {name: value for name, value in super().to_dict().items() if name != "similarity"}


@dataclass(frozen=True)
class ExaminedPair(Examined):
    """A pair of a split, with the predicted score and the true one."""

    prediction: RelatednessPrediction
    score: float | None


class Relatedness(Scoring):
    """Any network whose `logits` (B, G) are scores of the grades of a `TreePairBatch`, trained by the divergence of its
    distribution over grades from the one that represents the true score (Tai et al. 2015, section 4.2). The predicted
    score is the mean grade."""

    name = "relatedness"
    headline: tuple[str, ...] = ("pearson", "spearman", "mse")
    view: ClassVar[str] = "zoo.visualize.relatedness.RelatednessView"
    monitors: ClassVar = {"loss": "min", "pearson": "max", "spearman": "max", "mse": "min"}
    on_bar: tuple[str, ...] = ("loss", "pearson")
    spec: TreePairSpec

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
            self.record(stage, name, self._scores(output.logits), batch.score)

    def _scores(self, logits: Tensor) -> Tensor:
        """(B,) the mean grades."""
        shares = precise(logits).softmax(-1)
        return shares @ torch.arange(self.spec.lowest, self.spec.highest + 1).to(shares)

    # predicting

    def predictions(self, batch: TreePairBatch, words: list[Any]) -> list[RelatednessPrediction]:
        """Scores; `words` are the words of both sentences of each pair, as shown."""
        output = self.predict_step(batch)
        shares, scores = precise(output.logits).softmax(-1).tolist(), self._scores(output.logits).tolist()
        weights = output.attention.get("node")
        sentences = [sentence for pair in words for sentence in pair]
        trees = read_trees(batch, sentences, self.spec.unknown, None if weights is None else weights.flatten(0, 1))
        grades = [str(grade) for grade in range(self.spec.lowest, self.spec.highest + 1)]
        named = (dict(zip(grades, row, strict=True)) for row in shares)
        similarities: Any = [None] * len(scores)
        if states_of := getattr(self.network, "states", None):
            similarities = node_similarity(states_of(batch.trees), batch.trees)
        rows = zip(scores, named, trees[::2], trees[1::2], similarities, strict=True)
        return [RelatednessPrediction(*row) for row in rows]

    def examine(self, batch: TreePairBatch) -> list[ExaminedPair]:
        assert batch.text is not None, "a split that is evaluated has the words"
        scores = None if batch.score is None else batch.score.tolist()
        truth = None if scores is None else [f"{score:g}" for score in scores]
        pairs = list(zip(batch.text[::2], batch.text[1::2], strict=True))
        return self.examined(ExaminedPair, batch, pairs, truth, scores)


def node_similarity(states: Tensor, trees: Trees) -> list[tuple[tuple[float, ...], ...]]:
    """The cosine of each pair of nodes of the trees 2b and 2b + 1, from the states (N, D) of all nodes."""
    unit = F.normalize(states.detach().float(), dim=-1)
    by_tree = [torch.tensor(part) for part in trees.by_tree(unit)]
    pairs = zip(by_tree[::2], by_tree[1::2], strict=True)
    return [tuple(tuple(row) for row in (first @ second.T).tolist()) for first, second in pairs]


def divergences(logits: Tensor, above: Tensor) -> Tensor:
    """(B,) KL(t || softmax of `logits`) of each pair, from `logits` (B, G) and the distance `above` (B,) of the score
    from the lowest grade. The target t is shared by the two grades next to the score, so that its mean is the score."""
    log_p = precise(logits).log_softmax(-1)
    below = above.floor().clamp(max=logits.shape[1] - 2)
    upper = (above - below).to(log_p)  # the share of the grade above
    at = below.long()[:, None]
    cross = (1 - upper) * log_p.gather(1, at)[:, 0] + upper * log_p.gather(1, at + 1)[:, 0]
    return torch.special.xlogy(1 - upper, 1 - upper) + torch.special.xlogy(upper, upper) - cross
