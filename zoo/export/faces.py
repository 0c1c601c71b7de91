"""Faces of a network that consist of tensors alone, as `torch.export` needs them: no batches, states and outputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from inspect import Parameter, Signature
from typing import Any

from torch import Tensor, nn

from zoo.data.inputs import Inputs
from zoo.layers.state import State

TOKENS, NEXT = "tokens", "next_"
KINDS = ("memory", "hypotheses", "history")  # Fields of a State
"""The input of a step besides the state, and the prefix of the names of what it changes of the state."""


class Face(nn.Module, ABC):
    """A function of a network from tensors to tensors, by their names."""

    def __init__(self, network: nn.Module, names: Iterable[str]) -> None:
        super().__init__()
        self.network = network

        def forward(**tensors: Tensor) -> dict[str, Tensor]:
            return self.outputs(tensors)

        # torch.export names its inputs, and what it requires of their sizes, after these parameters
        parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        forward.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        self.forward = forward

    @abstractmethod
    def outputs(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Compute the outputs."""


class Whole(Face):
    """A network that predicts by its `forward`: the scores `logits`, and each attention as `attention_NAME`."""

    def __init__(self, network: nn.Module, inputs: Inputs) -> None:
        super().__init__(network, inputs.tensors)
        self.inputs = inputs

    def outputs(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        output = self.network(self.inputs.of(tensors))
        return {"logits": output.logits, **_named("attention", output.attention)}


class Start(Face):
    """The `start` of a network that writes: the state before the first token, by the names that `Step` reads.

    Where the network chooses them, also `first`, the token that the first step reads, and `positions_NAME`, the mask of
    an attention's positions.
    """

    network: Any

    def __init__(self, network: nn.Module, inputs: Inputs) -> None:
        super().__init__(network, inputs.tensors)
        self.inputs = inputs

    def outputs(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        state: State = self.network.start(self.inputs.of(tensors))
        first = {} if state.first is None else {"first": state.first}
        positions = {name: part.mask for name, part in state.memories.items()}
        return {**parts_of(state), **first, **_named("positions", positions)}


class Step(Face):
    """The `step` of a network that writes: from `tokens` (B, K) and the parts of the state to `log_probs` (B, K, V),
    each attention as `attention_NAME`, and what it changes of the state as `next_NAME`."""

    network: Any

    def __init__(self, network: nn.Module, state: State) -> None:
        """`state` is any state of this network."""
        super().__init__(network, [TOKENS, *parts_of(state)])
        self.state = state

    def outputs(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        given: dict[str, Any] = {
            kind: {name: tensors[_name(kind, name)] for name in getattr(self.state, kind)} for kind in KINDS
        }
        log_probs, after, attention = self.network.step(tensors[TOKENS], State(**given))
        changed = {NEXT + name: part for name, part in parts_of(replace(after, memory={})).items()}
        return {"log_probs": log_probs, **_named("attention", attention), **changed}


def parts_of(state: State) -> dict[str, Tensor]:
    """The tensors that `Step` reads of a state, by their names: `memory_NAME`, `hypotheses_NAME`, `history_NAME`."""
    return {name: part for kind in KINDS for name, part in _named(kind, getattr(state, kind)).items()}


def _named(kind: str, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {_name(kind, name): part for name, part in parts.items()}


def _name(kind: str, name: str) -> str:
    return f"{kind}_{name}".replace(".", "_")
