"""What an objective is asked, and what it answers: sums with the counts to divide them by.

An objective never divides. The mean of each rank's own mean is another number than the mean over the whole batch
whenever ranks hold different counts, and only the task knows the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from torch import Tensor, nn

from zoo.decoding.protocol import Examples, Generating, Specials
from zoo.layers.packing import Forced
from zoo.models.output import Output


class Supervised(Examples, Protocol):
    """B examples that come with what is to be written for them."""

    @property
    def forced(self) -> Forced:
        """The targets as a network reads them that is told the truth."""

    @property
    def true_tokens(self) -> Tensor:
        """(N,) the targets' real tokens, their ends included, in the order of `forced.packing`."""


class TargetSpec(Specials, Protocol):
    """What the data's spec says of the sequences to be written."""

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
    """The loss of one batch, term by term, and what there is to say about it."""

    terms: tuple[Term, ...]
    output: Output | None
    """Scores of all real target positions with the attention, where the objective made them; for the regularisers."""
    logs: dict[str, Tensor]
    """() each, by name: means over this rank's part of the batch. For the eye, not for the loss."""


class Network(Generating, Protocol):
    """A generating model with both its faces: one pass over all target positions, or one step for each of them."""

    def __call__(self, batch: Any, *, need_weights: bool = True) -> Output: ...

    def modules(self) -> Iterator[nn.Module]: ...


class Objective(Protocol):
    """What the network is trained to do: `step` counts the optimiser's steps since the beginning of the training, those
    before a resumption included."""

    def __call__(
        self, network: Network, batch: Supervised, *, spec: TargetSpec, step: int, need_weights: bool
    ) -> Loss: ...


class Regularizer(Protocol):
    """A term that is added to any objective's, from the scores and the attention. The task gives it the name of its
    entry in the configuration: of one kind there may be several."""

    def __call__(self, output: Output, batch: Supervised) -> Term: ...
