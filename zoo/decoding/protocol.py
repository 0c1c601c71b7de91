"""What decoding asks of a network, of a batch and of a vocabulary, and nothing else of them."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor

from zoo.layers.state import State, Step


class Sources(Protocol):
    """B sources to write something for; whatever else they hold is between the batch and the network."""

    @property
    def source_mask(self) -> Tensor:
        """(B, S) True at tokens, the end included; a prefix of each row."""

    def __len__(self) -> int:
        """B."""


class Specials(Protocol):
    """The ids that mean no word. A `PairSpec` is one."""

    @property
    def padding(self) -> int:
        """Never written."""

    @property
    def unknown(self) -> int:
        """Written like any word."""

    @property
    def begin(self) -> int:
        """What is read before the first token; never written."""

    @property
    def end(self) -> int:
        """The last token of a finished hypothesis."""


class Generating(Protocol):
    """A network that writes token by token. `zoo.layers.state` says what a state and a step hold."""

    def start(self, batch: Any) -> State:
        """The state of one hypothesis for each sentence, before its first token."""

    def step(self, tokens: Tensor, state: State) -> Step:
        """Reads `tokens` (B, K) and gives log-probabilities of the next ones (B, K, V)."""
