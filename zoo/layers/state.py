"""What a decoder carries from token to token, and what it gives at each: the interface of decoding and of training
by steps.

A generating model has two faces on the same weights. `forward(batch)` scores all target positions at once.
`start(batch)` gives the `State` before the first token, and `step(tokens, state)` reads one token of each hypothesis
and gives a `Step`.

Notation: B examples, K hypotheses of each (1 for greedy decoding and for training), S positions of the memory, V
vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from zoo.precision import precise_dtype


@dataclass(frozen=True)
class State:
    """What is known before the next token: of the examples, computed once, and of their hypotheses so far."""

    memory: Mapping[str, Tensor]
    """(B, ...) each: the encoder's output, its projections, masks. The hypotheses of an example share it."""
    hypotheses: Mapping[str, Tensor]
    """(B, K, ...) each: what differs between hypotheses. Never changed in place."""

    def reorder(self, parents: Tensor) -> State:
        """The state of the hypotheses that continue `parents` (B, K'), numbers from 0 to K - 1."""
        row = torch.arange(len(parents), device=parents.device)[:, None]
        return State(self.memory, {name: part[row, parents] for name, part in self.hypotheses.items()})

    def examples(self, rows: Tensor) -> State:
        """The state of some of the examples, `rows` (B',) of B: their numbers."""

        def chosen(parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
            return {name: part.index_select(0, rows) for name, part in parts.items()}

        return State(chosen(self.memory), chosen(self.hypotheses))


def log_probabilities(scores: Tensor) -> Tensor:
    """(..., V) scores -> log-probabilities, in float32 at least: sums of those of half precision add up its errors."""
    return scores.log_softmax(-1, dtype=precise_dtype(scores.dtype))


class Step(NamedTuple):
    """What reading one token gives."""

    log_probs: Tensor
    """(B, K, V) log-probabilities of the next token, in float32 at least."""
    state: State
    attention: dict[str, Tensor]
    """(B, K, S) or, with several heads, (B, K, H, S) weights on the memory, by the names that `forward` gives them."""
