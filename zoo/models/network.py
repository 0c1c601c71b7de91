"""Bases of the networks: what each declares about itself, and the interface of those that write token by token."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor, nn

from zoo.layers.state import State, Step
from zoo.models.output import Output
from zoo.values import Checked


class Network(Checked, nn.Module, ABC):
    """A network of the zoo. `forward(batch)` returns an `Output`.

    A constructor takes the data's spec, and then the paper's hyperparameters by keyword. It raises ConfigError for a
    value that its annotation does not allow.
    """

    tasks: ClassVar[tuple[str, ...]]
    """The tasks that it serves."""
    attends: ClassVar[Mapping[str, str | None]] = {}
    """Each kind of its attention, and the mask of the batch that this attention sees: see `Output.attention`."""
    threads: ClassVar[int]
    """The best number of CPU threads, where it is small: the matrices may be too small to gain from more."""


class WritingNetwork(Network):
    """A network that writes a sequence, with two faces on the same weights (see `zoo.layers.state`)."""

    @abstractmethod
    def forward(self, batch: Any, *, need_weights: bool = True) -> Output:
        """Scores (N, V) of the real target tokens, in the order of `batch.target_packing`, and unless `need_weights` is
        false the attention `source` (B, T, S), if there is any."""

    @abstractmethod
    def start(self, batch: Any) -> State:
        """Return the state before the first target token."""

    @abstractmethod
    def step(self, tokens: Tensor, state: State) -> Step:
        """Read one token of each hypothesis: `tokens` are (B, K) ids or (B, K, V) probabilities."""
