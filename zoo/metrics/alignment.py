"""Whether attention points where the words come from: alignment error rate."""

from __future__ import annotations

import torch
from torch import Tensor
from torchmetrics import Metric


class AlignmentErrorRate(Metric):
    """1 - 2 |A and S| / (|A| + |S|) over a corpus, 0 to 1, with every true link sure (Och and Ney 2003, where possible
    links are the sure ones).

    A has, of each target token, the source token with the largest weight, or with `threshold` all those of at least
    that weight. Target tokens without a true link, padding among them, do not count.
    """

    full_state_update = False
    higher_is_better = False
    found: Tensor
    links: Tensor

    def __init__(self, *, threshold: float | None = None) -> None:
        super().__init__()
        self.threshold = threshold
        self.add_state("found", torch.tensor(0), dist_reduce_fx="sum")
        self.add_state("links", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, weights: Tensor, alignment: Tensor) -> None:
        """`weights` (B, T, S) attention; `alignment` (B, T, S) True at the true links."""
        if weights.shape != alignment.shape:
            raise ValueError(f"weights {tuple(weights.shape)} and alignment {tuple(alignment.shape)} differ in shape")
        counted = alignment.any(-1, keepdim=True)
        if self.threshold is None:
            chosen = torch.zeros_like(alignment).scatter(-1, weights.argmax(-1, keepdim=True), True)
        else:
            chosen = weights >= self.threshold
        chosen = chosen & counted
        self.found += (chosen & alignment).sum()
        self.links += chosen.sum() + alignment.sum()

    def compute(self) -> Tensor:
        """The rate; NaN when no target token had a true link."""
        return 1 - 2 * self.found / self.links
