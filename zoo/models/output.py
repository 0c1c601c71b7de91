"""What every model returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Output:
    """Scores and the attention that led to them."""

    logits: Tensor
    """Unnormalised scores: (B, C) of the classes; of a model that generates, (N, V) of the vocabulary at the N real
    target positions, in the order of `batch.forced.packing`."""
    attention: dict[str, Tensor] = field(default_factory=dict)
    """Weights after the softmax and before dropout, by name: `word`, or with the number of the layer `source.0`. What
    stands before the dot is in the model's `attends`, with the name of the batch's mask that it sees: rows are exactly
    0 outside it and sum to 1 inside, or to less where the name is in the model's `unnormalised`."""
    losses: dict[str, Tensor] = field(default_factory=dict)
    """Scalar losses of the model's own by name, each a mean over the batch, which every task adds to its loss."""
