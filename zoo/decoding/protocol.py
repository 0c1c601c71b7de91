"""What decoding asks of a network, of a batch and of a vocabulary, and nothing else of them; and what it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

from torch import Tensor

from zoo.decoding.hypothesis import Hypothesis
from zoo.layers.state import State, Step


class Examples(Protocol):
    """B examples to write something for, each from a memory of at most S positions: tokens, image regions, points,
    sentences. What else they hold is between the batch and the network."""

    @property
    def memory_mask(self) -> Tensor:
        """(B, S) True at the positions of the memory that exist."""

    @property
    def content_mask(self) -> Tensor:
        """(B, S) True at those of them that hold content, which coverage asks to be attended: not at an end mark."""

    @property
    def memory_length(self) -> Tensor:
        """(B,) the number that the length of what is written is measured by."""

    def __len__(self) -> int:
        """B."""


class Specials(Protocol):
    """The ids that stand for nothing to be shown."""

    @property
    def padding(self) -> int:
        """Never written."""

    @property
    def begin(self) -> int:
        """What is read before the first token; never written."""

    @property
    def end(self) -> int:
        """The last token of a finished hypothesis."""


class Generating(Protocol):
    """A network that writes token by token. `zoo.layers.state` says what a state and a step hold."""

    def start(self, batch: Any) -> State:
        """The state of one hypothesis for each example, before its first token."""

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads `tokens` (B, K) and gives log-probabilities of the next ones (B, K, V)."""


class Decoding(ABC):
    """A way of writing, what `decoding=` names; a checkpoint names it too, and can have nothing else called."""

    @abstractmethod
    def __call__(self, network: Generating, batch: Examples, specials: Specials) -> list[list[Hypothesis]]:
        """For each example its hypotheses, the best first."""
