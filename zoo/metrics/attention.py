"""How much of the attention lies on the positions that decided the answer: `attention_recall`."""

from __future__ import annotations

import torch
from torch import Tensor
from torchmetrics import Metric


class AttentionRecall(Metric):
    """Mean over examples of the attention mass on the true positions, 0 to 1; exact over batches and ranks.

    Examples without a true position do not count. Uniform attention scores the share of true positions: see
    `uniform_weights`. Where every target token has a row of weights (B, T, S), it is an example of its own: give both
    tensors as (B * T, S).
    """

    full_state_update = False
    higher_is_better = True
    mass: Tensor
    examples: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("mass", torch.tensor(0.0, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("examples", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, weights: Tensor, evidence: Tensor) -> None:
        """`weights` (B, ...), all of an example's summing to 1; `evidence` (B, ...) True at the true positions."""
        if weights.shape != evidence.shape:
            raise ValueError(f"weights {tuple(weights.shape)} and evidence {tuple(evidence.shape)} differ in shape")
        counted = evidence.flatten(1).any(1)
        self.mass += (weights * evidence).flatten(1).sum(1)[counted].sum(dtype=torch.float64)
        self.examples += counted.sum()

    def compute(self) -> Tensor:
        """The mean mass; NaN when no example had a true position."""
        return self.mass / self.examples


def uniform_weights(mask: Tensor) -> Tensor:
    """The weights (B, ...) of equal attention to every real position of an example: what chance is measured with."""
    real = mask.flatten(1).sum(1).clamp(min=1)
    return mask / real.view(-1, *[1] * (mask.dim() - 1))


def uniform_rows(mask: Tensor, targets: int) -> Tensor:
    """Equal attention of each of T = `targets` target tokens to every real position: (B, S) -> (B, T, S)."""
    return uniform_weights(mask)[:, None].expand(-1, targets, -1)
