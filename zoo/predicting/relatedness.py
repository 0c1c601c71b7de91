"""The relatedness of two sentences, and what the network attended to."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.data.trees.batch import TreePairBatch, TreePairSpec, Trees
from zoo.precision import precise
from zoo.predicting.predicting import Examined, Predicting, Prediction
from zoo.predicting.trees import ReadTree, read_trees


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


class RelatednessPredictions(Predicting):
    """The scores that any network for `relatedness` gives to pairs of sentences."""

    name = "relatedness"
    view: ClassVar[str] = "zoo.visualize.relatedness.RelatednessView"
    spec: TreePairSpec

    def scores(self, logits: Tensor) -> Tensor:
        """(B,) the mean grades."""
        shares = precise(logits).softmax(-1)
        return shares @ torch.arange(self.spec.lowest, self.spec.highest + 1).to(shares)

    def predictions(self, batch: TreePairBatch, words: list[Any]) -> list[RelatednessPrediction]:
        """Scores; `words` are the words of both sentences of each pair, as shown."""
        output = self.predict_step(batch)
        shares, scores = precise(output.logits).softmax(-1).tolist(), self.scores(output.logits).tolist()
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
