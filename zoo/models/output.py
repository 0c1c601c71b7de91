"""The result of every model."""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from zoo.layers.state import Memories


@dataclass(frozen=True)
class Output:
    """Scores, and the attention that led to them."""

    logits: Tensor
    """Unnormalised scores: (B, C) of the classes, or for a model that generates (N, V) of the vocabulary.

    N are the real target positions, in the order of `batch.forced.packing`.
    """
    attention: dict[str, Tensor] = field(default_factory=dict)
    """Weights after the softmax and before dropout, by name: `word`, or with a layer number `source.0`.

    The model's `attends` maps the part before the dot to a mask of the batch, or to None if the model chooses the
    positions itself and returns them in `memories`. Rows are exactly 0 outside the mask and sum to 1 inside, or to
    another number if the model's `unnormalised` has the name.
    """
    losses: dict[str, Tensor] = field(default_factory=dict)
    """Further scalar losses of the model by name, each a mean over the batch; the task adds them to its loss."""
    steps: dict[str, Tensor] = field(default_factory=dict)
    """How many steps each position took (B, ...), by name, where a network decides that itself; 0 at padding."""
    memories: Memories = field(default_factory=dict)
    """Positions that an attention can look at, by its name, if the model chooses them; as in the `State` of `start`."""
    possible: Tensor | None = None
    """Mask (B, V) of the vocabulary columns that each example has; None for all. The loss ignores other columns."""
    carried: Any = None
    """The state after this batch, for the next batch of a stream, where the model has `carries = True`: tensors
    (B, ...), a row for each row of the batch, in dicts, lists or tuples."""
    surprisal: Tensor | None = None
    """(N,) -log p of the true tokens, from a network that was asked for no scores and need not compute them; `logits`
    is then (N, 0)."""
    truth: Tensor | None = None
    """(N,) the true tokens as columns of `logits`, where a network has more columns than the vocabulary, such as one
    for each unknown word of a source; None where they are the `true_tokens` of the batch."""
    gates: dict[str, Tensor] = field(default_factory=dict)
    """Shares from 0 to 1 at each target position (B, T), by name, for views; 0 at padding."""

    def true_tokens(self, batch: Any) -> Tensor:
        """(N,) the true tokens of a batch as columns of `logits`."""
        return batch.true_tokens if self.truth is None else self.truth
