"""Faces of a network that consist of tensors alone, as `torch.export` needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from zoo.data.inputs import Inputs
from zoo.layers.state import State

ATTENTION, NEXT = "attention.", "next."
"""Prefixes of the names of outputs: weights, and the state after a step."""
MEMORY, HYPOTHESES, POSITIONS = "memory.", "hypotheses.", "positions."
"""Prefixes of the names of the parts of a state."""
TOKENS, FIRST, LOGITS, LOG_PROBS = "tokens", "first", "logits", "log_probs"


class Whole(nn.Module):
    """A network whose `forward` predicts."""

    def __init__(self, network: nn.Module, inputs: Inputs) -> None:
        super().__init__()
        self.network, self.inputs = network, inputs

    def forward(self, **tensors: Tensor) -> dict[str, Tensor]:
        """The scores `logits`, and each attention as `attention.NAME`."""
        output = self.network(self.inputs.of(tensors))
        return {LOGITS: output.logits, **_named(ATTENTION, output.attention)}


class Start(nn.Module):
    """The `start` of a network that writes."""

    def __init__(self, network: Any, inputs: Inputs) -> None:
        super().__init__()
        self.network, self.inputs = network, inputs

    def forward(self, **tensors: Tensor) -> dict[str, Tensor]:
        """The state before the first token, by the names that `Step` reads. Where the network chooses them, also
        `first`, the token that the first step reads, and `positions.NAME`, the mask of an attention's positions."""
        state: State = self.network.start(self.inputs.of(tensors))
        first = {} if state.first is None else {FIRST: state.first}
        positions = {name: part.mask for name, part in state.memories.items()}
        return parts_of(state) | first | _named(POSITIONS, positions)


class Step(nn.Module):
    """The `step` of a network that writes."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, **tensors: Tensor) -> dict[str, Tensor]:
        """From `tokens` (B, K) and a state: `log_probs` (B, K, V), each attention as `attention.NAME`, and what the
        step changes of the state as `next.NAME`."""
        memory, hypotheses = (
            {name.removeprefix(prefix): part for name, part in tensors.items() if name.startswith(prefix)}
            for prefix in (MEMORY, HYPOTHESES)
        )
        log_probs, after, attention = self.network.step(tensors[TOKENS], State(memory, hypotheses))
        changed = _named(NEXT + HYPOTHESES, after.hypotheses)
        return {LOG_PROBS: log_probs, **_named(ATTENTION, attention), **changed}


def parts_of(state: State) -> dict[str, Tensor]:
    """The tensors that `Step` reads of a state, by their names."""
    return _named(MEMORY, state.memory) | _named(HYPOTHESES, state.hypotheses)


def _named(prefix: str, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {prefix + name: part for name, part in parts.items()}
