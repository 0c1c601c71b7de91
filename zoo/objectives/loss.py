"""What an objective is asked, and what it answers: sums with the counts to divide them by.

An objective never divides. The mean of each rank's own mean is another number than the mean over the whole batch
whenever ranks hold different counts, and only the task knows the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from torch import Tensor, nn

from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.spec import PairSpec
from zoo.decoding.protocol import Generating
from zoo.models.output import Output


@dataclass(frozen=True)
class Term:
    """One summand of the loss: weight * total / count, total and count summed over all ranks."""

    name: str
    total: Tensor
    """() a sum over tokens or sentences, with its gradient."""
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

    def __call__(self, batch: PairBatch, *, need_weights: bool = True) -> Output: ...

    def modules(self) -> Iterator[nn.Module]: ...


class Objective(Protocol):
    """What the network is trained to do: `step` counts the optimiser's steps since the beginning of the training, those
    before a resumption included."""

    def __call__(
        self, network: Network, batch: PairBatch, *, spec: PairSpec, step: int, need_weights: bool
    ) -> Loss: ...


class Regularizer(Protocol):
    """A term that is added to any objective's, from the scores and the attention."""

    def __call__(self, output: Output, batch: PairBatch) -> Term: ...
