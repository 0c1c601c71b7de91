"""The interfaces of decoding: all that it requires of a network, of a batch and of a vocabulary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import torch
from torch import Tensor

from zoo.decoding.hypothesis import Hypothesis
from zoo.layers.state import State, Step


class Examples(Protocol):
    """B examples to write something for, each from a memory of at most S positions: tokens, image regions, points,
    sentences. Only the network knows their other fields. It may replace these three by `State.memories`."""

    @property
    def memory_mask(self) -> Tensor:
        """(B, S) True at the positions of the memory that exist."""

    @property
    def content_mask(self) -> Tensor:
        """(B, S) True at the positions with content, which coverage requires to be attended: not at an end mark."""

    @property
    def memory_length(self) -> Tensor:
        """(B,) the number that limits on the length of the written sequence are relative to."""

    def __len__(self) -> int:
        """B."""


class Specials(Protocol):
    """The ids of tokens that are not shown."""

    @property
    def padding(self) -> int:
        """Never written."""

    @property
    def begin(self) -> int:
        """Read before the first token, unless the network gives other first tokens; never written."""

    @property
    def end(self) -> int | None:
        """The last token of a finished hypothesis; None for texts without an end, which the maximum length cuts."""


class Generating(Protocol):
    """A network that writes token by token. `zoo.layers.state` says what a state and a step hold."""

    def start(self, batch: Any) -> State:
        """Return the state of one hypothesis for each example, before its first token."""

    def step(self, tokens: Tensor, state: State) -> Step:
        """Read `tokens` (B, K) and return the log-probabilities (B, K, V) of the next ones."""


def first_tokens(state: State, specials: Specials, count: int) -> Tensor:
    """(B, 1) the tokens that the first step reads for `count` examples: those of `state`, or else begin."""
    if state.first is None:
        return torch.full((count, 1), specials.begin, device=state.device)
    return state.first[:, None]


class Decoding(ABC):
    """A way of decoding, chosen by `decoding=`. A checkpoint names its class, and may name no other kind of class."""

    @abstractmethod
    def __call__(self, network: Generating, batch: Examples, specials: Specials) -> list[list[Hypothesis]]:
        """Return the hypotheses of each example, the best first."""
