"""The interface of objectives: they return sums, and the counts to divide them by.

An objective never divides. The mean of each rank's own mean is another number than the mean over the whole batch
whenever ranks hold different counts, and only the task knows the ranks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from torch import Tensor, nn

from zoo.decoding.protocol import Examples, Generating, Specials
from zoo.layers.packing import Forced
from zoo.models.output import Output


class Supervised(Examples, Protocol):
    """B examples with the sequences to write for them."""

    @property
    def forced(self) -> Forced:
        """Decoder inputs for teacher forcing: the targets shifted right."""

    @property
    def true_tokens(self) -> Tensor:
        """(N,) the targets' real tokens, their ends included, in the order of `forced.packing`."""


class TargetSpec(Specials, Protocol):
    """The facts in the data's spec about the sequences to be written."""

    @property
    def longest_target(self) -> int:
        """Tokens of the longest, its end included."""


@dataclass(frozen=True)
class Term:
    """One summand of the loss: weight * total / count, total and count summed over all ranks."""

    name: str
    total: Tensor
    """() a sum over tokens or examples, with its gradient."""
    count: float | Tensor
    """How many it is a sum over, in this rank's part of the batch."""
    weight: float = 1.0
    """0: only reported."""


class Loss(NamedTuple):
    """The loss of one batch, term by term, with numbers to log."""

    terms: tuple[Term, ...]
    output: Output | None
    """Scores of all real target positions with the attention, where the objective made them; for the regularisers."""
    logs: dict[str, Tensor]
    """() each, by name: means over this rank's part of the batch. They are logged and do not enter the loss."""


class Network(Generating, Protocol):
    """A generating model with both its faces: one pass over all target positions, or one step for each of them."""

    def __call__(self, batch: Any, *, need_weights: bool = True) -> Output: ...

    def modules(self) -> Iterator[nn.Module]: ...


class Objective(Protocol):
    """Computes the loss of a batch. `step` is the number of optimiser steps since the training began, those before a
    resumption included."""

    def __call__(
        self, network: Network, batch: Supervised, *, spec: TargetSpec, step: int, need_weights: bool
    ) -> Loss: ...


class Regularizer(Protocol):
    """Computes a term from the scores and the attention, which is added to those of any objective. The task gives it
    the name of its entry in the configuration, since there may be several of one kind."""

    def __call__(self, output: Output, batch: Supervised) -> Term: ...
