"""A constraint on the tokens that may be written next, given the written ones. It wraps any network for decoding.

Notation: B examples, K hypotheses of each, V vocabulary.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import torch.nn.functional as F
from torch import Tensor, nn

from zoo.layers.state import State, Step

OWN = "constraint."  # Prefix of the names of a constraint's parts of a state
Parts = Mapping[str, Tensor]


class Constraint(Protocol):
    """Decides which tokens may follow. It stores nothing between its calls: its knowledge of the examples and of the
    written tokens is in tensors, which decoding reorders with the rest of the state."""

    def memory(self, batch: Any) -> dict[str, Tensor]:
        """Return what the constraint needs to know about the examples, (B, ...) each."""

    def begin(self, memory: Parts) -> dict[str, Tensor]:
        """Return what the constraint knows about a hypothesis before its first token, (B, 1, ...) each."""

    def read(self, tokens: Tensor, memory: Parts, written: Parts) -> dict[str, Tensor]:
        """Return what it knows after it has also read `tokens` (B, K), (B, K, ...) each. The first tokens are begin.
        After the end the values are not used."""

    def allowed(self, memory: Parts, written: Parts) -> Tensor:
        """Return (B, K, V'), True at the tokens that may follow, at least one. Tokens from V' on may not follow."""


class Constrained:
    """A `network` whose tokens obey a constraint. Tokens that may not follow have probability 0, and the rest is scaled
    to sum to 1, with gradients. The attention, and the scores that `forward` gives for targets, are the network's own.

    Nothing follows where the network itself excludes all tokens that may follow.
    """

    def __init__(self, network: Any, constraint: Constraint) -> None:
        self.network, self.constraint = network, constraint

    def __call__(self, batch: Any, *, need_weights: bool = True) -> Any:
        return self.network(batch, need_weights=need_weights)

    def modules(self) -> Iterator[nn.Module]:
        return self.network.modules()

    def start(self, batch: Any) -> State:
        """Return the network's state together with that of the constraint."""
        memory = self.constraint.memory(batch)
        return _joined(self.network.start(batch), memory, self.constraint.begin(memory))

    def step(self, tokens: Tensor, state: State) -> Step:
        """Read `tokens` (B, K) and return the log-probabilities (B, K, V) of the tokens that may follow. Raises
        ValueError for distributions in place of tokens, since the written token is then unknown."""
        if tokens.dim() != 2:
            raise ValueError(f"a constraint reads tokens (B, K); got a tensor {tuple(tokens.shape)}")
        memory, written = _parts(state.memory, own=True), _parts(state.hypotheses, own=True)
        written = self.constraint.read(tokens, memory, written)
        inner = State(_parts(state.memory, own=False), _parts(state.hypotheses, own=False), history=state.history)
        log_probs, after, attention = self.network.step(tokens, inner)
        allowed = self.constraint.allowed(memory, written)
        allowed = F.pad(allowed, (0, log_probs.shape[2] - allowed.shape[2]))
        scores = log_probs.masked_fill(~allowed, -float("inf"))
        none = (scores == -float("inf")).all(2, keepdim=True)  # their softmax would be NaN, and so its gradient
        scores = scores.masked_fill(none, 0.0).log_softmax(2).masked_fill(none, -float("inf"))
        return Step(scores, _joined(after, memory, written), attention)


def _parts(parts: Parts, *, own: bool) -> dict[str, Tensor]:
    """The parts of the constraint, by its own names, or the parts of the network."""
    return {name.removeprefix(OWN): part for name, part in parts.items() if name.startswith(OWN) == own}


def _joined(state: State, memory: Parts, written: Parts) -> State:
    def with_own(parts: Parts, others: Parts) -> dict[str, Tensor]:
        return {**parts, **{f"{OWN}{name}": part for name, part in others.items()}}

    return replace(state, memory=with_own(state.memory, memory), hypotheses=with_own(state.hypotheses, written))
