"""What every model returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Output:
    """Scores and the attention that led to them."""

    logits: Tensor
    """Unnormalised class scores, (B, C)."""
    attention: dict[str, Tensor] = field(default_factory=dict)
    """Weights after the softmax and before dropout, by name: rows sum to 1 on real positions and are exactly 0
    elsewhere."""
    losses: dict[str, Tensor] = field(default_factory=dict)
    """Scalar losses of the model's own, added to the task's."""
