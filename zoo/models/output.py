"""What every model returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Output:
    """Scores and the attention that led to them."""

    logits: Tensor
    """Unnormalised scores: (B, C) of the classes; of a model that generates, (N, V) of the vocabulary at the N real
    target positions, in the order of `batch.target_packing`."""
    attention: dict[str, Tensor] = field(default_factory=dict)
    """Weights after the softmax and before dropout, by name: rows sum to 1 on the real positions that the model attends
    to and are exactly 0 elsewhere. Luong's local_p, which its paper does not renormalise, sums to less."""
    losses: dict[str, Tensor] = field(default_factory=dict)
    """Scalar losses of the model's own, which classification adds to its loss."""
