"""The interface of objectives, which return sums, with the counts that divide them.

Only the task divides, because it knows the counts of all ranks. A mean over the means of the ranks would be wrong if
their counts differ.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from torch import Tensor, nn

from zoo.decoding.protocol import Examples, Generating, Specials
from zoo.layers.packing import Forced
from zoo.models.output import Output


class Supervised(Examples, Protocol):
    """B examples with their target sequences."""

    @property
    def forced(self) -> Forced:
        """Decoder inputs for teacher forcing: the targets shifted right."""

    @property
    def true_tokens(self) -> Tensor:
        """(N,) the real tokens of the targets, ends included, in the order of `forced.packing`."""


class TargetSpec(Specials, Protocol):
    """The part of a data spec that describes the target sequences."""

    @property
    def longest_target(self) -> int:
        """Number of tokens of the longest target, its end included."""


@dataclass(frozen=True)
class Term:
    """A term of the loss: weight * total / count, where total and count are summed over all ranks."""

    name: str
    total: Tensor  # () the sum over tokens or examples, with its gradient
    count: float | Tensor  # The number of these tokens or examples in this rank's part of the batch
    weight: float = 1.0  # A term with the weight 0 is only reported


class Loss(NamedTuple):
    """The terms of the loss of one batch, and numbers to log."""

    terms: tuple[Term, ...]
    output: Output | None
    """The scores of all real target positions and the attention, which regularisers read. None if the objective did
    not compute them."""
    logs: dict[str, Tensor]
    """() each, by name: means over this rank's part of the batch, which are not part of the loss."""


class Network(Generating, Protocol):
    """A generating network. A call scores all target positions at once; `start` and `step` go token by token."""

    def __call__(self, batch: Any, *, need_weights: bool = True) -> Output: ...

    def modules(self) -> Iterator[nn.Module]: ...


class Objective(Protocol):
    """Computes the loss of a batch. `step` counts optimiser steps from the start of training, also after a resume."""

    def __call__(
        self, network: Network, batch: Supervised, *, spec: TargetSpec, step: int, need_weights: bool
    ) -> Loss: ...


class Regularizer(Protocol):
    """Computes a term from the scores and the attention, which is added to the terms of an objective. The task renames
    it to its key in the configuration, since a run may have several of one kind."""

    def __call__(self, output: Output, batch: Supervised) -> Term: ...
