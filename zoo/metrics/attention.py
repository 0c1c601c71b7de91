"""Does attention lie on the positions that decided the answer: its mass there, its largest weight, and the alignment
error rate."""

from abc import abstractmethod

import torch
from torch import Tensor

from zoo.metrics.ratios import Ratio


class _OnTruePositions(Ratio):
    """The mean of a number over the examples that have a true position."""

    higher_is_better = True
    real = True

    def update(self, weights: Tensor, evidence: Tensor) -> None:
        """`weights` (B, ...) of each example, `evidence` (B, ...) True at the true positions."""
        _same_shape(weights, "evidence", evidence)
        true = evidence.flatten(1)
        counted = true.any(1)
        self.total += self.scores(weights.flatten(1)[counted], true[counted]).sum(dtype=torch.float64)
        self.count += counted.sum()

    @abstractmethod
    def scores(self, weights: Tensor, true: Tensor) -> Tensor:
        """(N,) the number of each example, from its weights (N, P) and its true positions (N, P)."""


class AttentionRecall(_OnTruePositions):
    """Mean over examples of the attention mass on the true positions, 0 to 1: `attention_recall`.

    Examples without a true position do not count. Uniform attention scores the share of true positions: see
    `uniform_weights`. If every target token has a row of weights (B, T, S), each row is an example: pass both tensors
    as (B * T, S).
    """

    def scores(self, weights: Tensor, true: Tensor) -> Tensor:
        return (weights * true).sum(1)


class HeadRecalls(Ratio):
    """The mean mass that each of H heads puts on the true positions, over all rows that have some: (H,), 0 to 1."""

    real = True

    def __init__(self, heads: int) -> None:
        super().__init__(heads, by=())

    def update(self, weights: Tensor, truth: Tensor) -> None:
        """`weights` (B, H, T, S) attention; `truth` (B, T, S) True at the true positions of a row."""
        _same_shape(weights[:, 0], "truth", truth)
        self.total += (weights * truth[:, None]).sum((0, 2, 3), dtype=torch.float64)
        self.count += truth.any(-1).sum()


class PointingGame(_OnTruePositions):
    """The share of examples whose largest weight lies on a true position, 0 to 1.

    Examples without a true position do not count. If several weights are the largest, the example counts by the share
    of them that is true, the mean result of a random choice among them. Uniform weights therefore score the mean share
    of true positions, as a position drawn at random does; that is their `AttentionRecall`, too.

    Jianming Zhang, Zhe Lin, Jonathan Brandt, Xiaohui Shen, Stan Sclaroff. Top-down Neural Attention by Excitation
    Backprop. ECCV 2016. https://arxiv.org/abs/1608.00507
    """

    def scores(self, weights: Tensor, true: Tensor) -> Tensor:
        largest = weights == weights.amax(1, keepdim=True)
        return (largest & true).sum(1).double() / largest.sum(1)


class AlignmentErrorRate(Ratio):
    """1 - 2 |A and S| / (|A| + |S|) over a corpus, 0 to 1 (Och and Ney 2003). Every true link is sure, so that the
    possible links are the sure ones.

    For each target token A contains the source token with the largest weight, or with `threshold` all source tokens
    with at least that weight. Target tokens without a true link, such as padding, do not count.
    """

    higher_is_better = False

    def __init__(self, *, threshold: float | None = None) -> None:
        super().__init__()
        self.threshold = threshold

    def update(self, weights: Tensor, alignment: Tensor) -> None:
        """`weights` (B, T, S) attention; `alignment` (B, T, S) True at the true links."""
        _same_shape(weights, "alignment", alignment)
        counted = alignment.any(-1, keepdim=True)
        if self.threshold is None:
            chosen = torch.zeros_like(alignment).scatter(-1, weights.argmax(-1, keepdim=True), True)
        else:
            chosen = weights >= self.threshold
        chosen = chosen & counted
        self.total += (chosen & alignment).sum()
        self.count += chosen.sum() + alignment.sum()

    def compute(self) -> Tensor:
        """The rate; NaN if no target token had a true link."""
        return 1 - 2 * super().compute()


def uniform_weights(mask: Tensor) -> Tensor:
    """The weights (B, ...) of equal attention to every real position of an example, which is chance."""
    real = mask.flatten(1).sum(1).clamp(min=1)
    return mask / real.view(-1, *[1] * (mask.dim() - 1))


def uniform_rows(mask: Tensor, targets: int) -> Tensor:
    """Equal attention of each of T = `targets` target tokens to every real position: (B, S) -> (B, T, S)."""
    return uniform_weights(mask)[:, None].expand(-1, targets, -1)


def _same_shape(weights: Tensor, name: str, truth: Tensor) -> None:
    if weights.shape != truth.shape:
        raise ValueError(f"weights {tuple(weights.shape)} and {name} {tuple(truth.shape)} differ in shape")
