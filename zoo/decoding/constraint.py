"""What may be written next, given what was written: a constraint around any network, and decoding as it is.

Notation: B examples, K hypotheses of each, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import torch.nn.functional as F
from torch import Tensor, nn

from zoo.layers.state import State, Step

OWN = "constraint."
"""What the names of a constraint's parts of a state begin with."""
Parts = Mapping[str, Tensor]


class Constraint(Protocol):
    """What may follow. Between its calls it keeps nothing: what it has to know of the examples and of what was written
    is in tensors, which decoding reorders with the rest of the state."""

    def memory(self, batch: Any) -> dict[str, Tensor]:
        """(B, ...) each: what it has to know of the examples."""

    def begin(self, memory: Parts) -> dict[str, Tensor]:
        """(B, 1, ...) each: what it knows of a hypothesis before anything was read."""

    def read(self, tokens: Tensor, memory: Parts, written: Parts) -> dict[str, Tensor]:
        """(B, K, ...) each: what it knows after `tokens` (B, K) too, the first of which are begin. Behind the end there
        may be anything."""

    def allowed(self, memory: Parts, written: Parts) -> Tensor:
        """(B, K, V') True at the tokens that may follow, one at least; those from V' on may not."""


class Constrained:
    """`network` as it writes under a constraint: of what may not follow the probability is 0, and the rest is scaled to
    sum to 1, so that these are the probabilities of a network that cannot err, with their gradients. The attention, and
    what `forward` says of targets, are the network's own.

    Where the network itself rules out all that may follow, nothing follows.
    """

    def __init__(self, network: Any, constraint: Constraint) -> None:
        self.network, self.constraint = network, constraint

    def __call__(self, batch: Any, *, need_weights: bool = True) -> Any:
        return self.network(batch, need_weights=need_weights)

    def modules(self) -> Iterator[nn.Module]:
        return self.network.modules()

    def start(self, batch: Any) -> State:
        """The network's state with the constraint's."""
        memory = self.constraint.memory(batch)
        return _joined(self.network.start(batch), memory, self.constraint.begin(memory))

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads `tokens` (B, K) and gives the log-probabilities (B, K, V) of those that may follow. Raises ValueError
        for distributions in place of tokens: no one knows what was written."""
        if tokens.dim() != 2:
            raise ValueError(f"a constraint reads tokens (B, K); got a tensor {tuple(tokens.shape)}")
        memory, written = _parts(state.memory, own=True), _parts(state.hypotheses, own=True)
        written = self.constraint.read(tokens, memory, written)
        inner = State(_parts(state.memory, own=False), _parts(state.hypotheses, own=False))
        log_probs, after, attention = self.network.step(tokens, inner)
        allowed = self.constraint.allowed(memory, written)
        allowed = F.pad(allowed, (0, log_probs.shape[2] - allowed.shape[2]))
        scores = log_probs.masked_fill(~allowed, -float("inf"))
        none = (scores == -float("inf")).all(2, keepdim=True)  # their softmax would be NaN, and so its gradient
        scores = scores.masked_fill(none, 0.0).log_softmax(2).masked_fill(none, -float("inf"))
        return Step(scores, _joined(after, memory, written), attention)


def _parts(parts: Parts, *, own: bool) -> dict[str, Tensor]:
    """Those of the constraint, by its own names, or those of the network."""
    return {name.removeprefix(OWN): part for name, part in parts.items() if name.startswith(OWN) == own}


def _joined(state: State, memory: Parts, written: Parts) -> State:
    def with_own(parts: Parts, others: Parts) -> dict[str, Tensor]:
        return {**parts, **{f"{OWN}{name}": part for name, part in others.items()}}

    return State(with_own(state.memory, memory), with_own(state.hypotheses, written))
